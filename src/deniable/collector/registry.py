"""What a collector's database knows besides reports: surveys, how they were planned, tokens."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.exc import IntegrityError

from deniable.collector.receipts import drop_receipts
from deniable.collector.retention import end_of, is_due
from deniable.collector.spending import check_admission
from deniable.collector.tables import (
    COMPARED,
    INCOMING,
    PLANS,
    RECENT,
    REPORTS,
    SPENT,
    STEPS,
    SUMS,
    SURVEYS,
    TOKENS,
)
from deniable.collector.transactions import Transactions
from deniable.errors import InvalidParameter
from deniable.surveys import Survey

ROLES = ("admin", "submit")
DOCUMENT_BYTES = 1 << 25
"""Surveys that were built from their documents are kept until their documents are so large together."""


@dataclass(frozen=True)
class Line:
    """What is known of a survey without building it from its document."""

    hash: str
    title: str
    open: bool
    successor: str | None
    reports_days: int | None
    receipts_days: int | None
    receipt_windows: int | None


@dataclass(frozen=True)
class Token:
    """Whose token it is, what it allows, and until when, in seconds since 1970."""

    name: str
    role: str
    expires: int | None = None


class Registry(Transactions):
    """One database. Every method is one transaction."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._documents = _Documents()

    # Surveys

    def add_survey(self, survey: Survey) -> bool:
        """Open a survey; False when it was there already (it is not opened again if it was closed)."""
        try:
            with self.writing() as connection:
                self._open(connection, survey)
        except IntegrityError:
            return False
        return True

    def _open(self, connection: Connection, survey: Survey) -> None:
        check_admission(survey)
        row = {"hash": survey.hash, "document": survey.to_json(), "open": True, "stepped": math.ceil(time.time())}
        connection.execute(SURVEYS.insert().values(**row))
        self._bump("catalog", connection)

    def add_plan(self, text: str, group: str, survey_hash: str, reasons: dict[str, str]) -> None:
        """Remember what a survey file, or one group of it, became, and why; what is there already stays."""
        row = {"source": digest(f"{text}\0{group}" if group else text), "survey": survey_hash, "reasons": json.dumps(reasons)}
        with self.writing() as connection:
            connection.execute(self.insert(PLANS).values(row).on_conflict_do_nothing())

    def planned(self, text: str) -> dict[str, str]:
        """The hashes of the surveys that this file became before, by group; the name is empty when it has no groups."""
        with self.reading() as connection:
            alone: str | None = connection.execute(select(PLANS.c.survey).where(PLANS.c.source == digest(text))).scalar()
        return self._groups(bindparam("family", digest(text))) if alone is None else {"": alone}

    def reasons(self, survey_hash: str) -> dict[str, str]:
        """Why the mechanisms of a survey were chosen, by attribute; empty when its author named them."""
        with self.reading() as connection:
            rows = connection.execute(select(PLANS.c.reasons).where(PLANS.c.survey == survey_hash).order_by(PLANS.c.source))
            return {name: why for row in rows for name, why in json.loads(row.reasons).items()}

    def add_groups(self, source: bytes, hashes: dict[str, str]) -> None:
        """Say which surveys ask the groups of one file, by name and in order; what is there already stays."""
        rows = [
            {"survey": survey_hash, "family": source, "name": name, "place": place}
            for place, (name, survey_hash) in enumerate(hashes.items())
        ]
        with self.writing() as connection:
            connection.execute(self.insert(COMPARED).values(rows).on_conflict_do_nothing())

    def groups(self, survey_hash: str) -> dict[str, str]:
        """The surveys of all groups that this one is compared with, itself included, by name; empty when it has no group."""
        return self._groups(select(COMPARED.c.family).where(COMPARED.c.survey == survey_hash).scalar_subquery())

    def _groups(self, family: Any) -> dict[str, str]:
        query = select(COMPARED.c.name, COMPARED.c.survey).where(COMPARED.c.family == family)
        with self.reading() as connection:
            return {row.name: row.survey for row in connection.execute(query.order_by(COMPARED.c.place, COMPARED.c.name))}

    def add_round(self, before: str, following: Survey) -> bool:
        """Open the next round, compared with those of other groups, and close the one before; False when it is there already."""
        try:
            with self.writing() as connection:
                self._open(connection, following)
                row = connection.execute(select(COMPARED).where(COMPARED.c.survey == before)).first()
                if row is not None:
                    family = hashlib.sha256(bytes(row.family)).digest()
                    values = {"survey": following.hash, "family": family, "name": row.name, "place": row.place}
                    connection.execute(COMPARED.insert().values(values))
                connection.execute(update(SURVEYS).where(SURVEYS.c.hash == before).values(**_ended(following.hash)))
        except IntegrityError:
            return False
        return True

    def close_survey(self, survey_hash: str, *, successor: str | None = None) -> bool:
        """No more submissions; `successor` is where people answer now. False when there is no such survey."""
        return self._changed(survey_hash, _ended(successor))

    def reopen_survey(self, survey_hash: str) -> bool:
        """Submissions again, unless its last day is over; False when there is no such survey."""
        with self.reading() as connection:
            row = connection.execute(select(SURVEYS).where(SURVEYS.c.hash == survey_hash)).first()
        if row is not None and is_due(end_of(row), row.receipts_days, time.time()):
            raise InvalidParameter("the survey's receipts were deleted, so a report could count twice; open its next round instead")
        return self._changed(survey_hash, {"open": True, "closed": None, "successor": None})

    def keep_for(self, survey_hash: str, *, reports: int | None, receipts: int | None, windows: int | None = None) -> bool:
        """How many days after closing kept reports and receipts are deleted, and of how many windows before the present one
        receipts are remembered while the survey runs; None: for good."""
        return self._changed(survey_hash, {"reports_days": reports, "receipts_days": receipts, "receipt_windows": windows})

    def delete_survey(self, survey_hash: str) -> bool:
        """Forget a survey with everything that was collected for it; False when there is no such survey."""
        with self.unhurried() as connection:
            drop_receipts(connection, survey_hash)
            for table in (COMPARED, SUMS, RECENT, STEPS, INCOMING, REPORTS, PLANS, SPENT):
                connection.execute(delete(table).where(table.c.survey == survey_hash))
            gone = connection.execute(delete(SURVEYS).where(SURVEYS.c.hash == survey_hash)).rowcount > 0
            self._bump("catalog", connection)
        return bool(gone)

    def _changed(self, survey_hash: str, values: dict[str, Any]) -> bool:
        with self.writing() as connection:
            changed = connection.execute(update(SURVEYS).where(SURVEYS.c.hash == survey_hash).values(**values)).rowcount > 0
            self._bump("catalog", connection)
        return changed

    def open_hashes(self) -> dict[str, bool]:
        """Which surveys there are, and whether each is open."""
        with self.reading() as connection:
            return {row.hash: bool(row.open) for row in connection.execute(select(SURVEYS.c.hash, SURVEYS.c.open))}

    def lines(self, hashes: list[str]) -> list[Line]:
        """What a list of surveys says, in the order of their hashes."""
        with self.reading() as connection:
            rows = connection.execute(select(SURVEYS).where(SURVEYS.c.hash.in_(hashes)).order_by(SURVEYS.c.hash)).fetchall()
        return [
            Line(
                row.hash,
                json.loads(bytes(row.document))["title"],
                bool(row.open),
                row.successor,
                row.reports_days,
                row.receipts_days,
                row.receipt_windows,
            )
            for row in rows
        ]

    def survey(self, survey_hash: str) -> Survey | None:
        """One survey; a document never changes, so it is read and checked once."""
        survey = self._documents.get(survey_hash)
        if survey is None:
            with self.reading() as connection:
                data = connection.execute(select(SURVEYS.c.document).where(SURVEYS.c.hash == survey_hash)).scalar()
            if data is None:
                return None
            survey = Survey.from_json(bytes(data), allow_large=True)
            self._documents.add(survey, len(data))
        return survey

    def at_hand(self, survey_hash: str) -> Survey | None:
        """A survey that is in memory; never asks the database."""
        return self._documents.get(survey_hash)

    # Tokens

    def add_token(self, name: str, role: str, expires: int | None = None) -> str:
        """A new token; it is shown now and never again."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise InvalidParameter("name must be 1 to 100 letters that say whose token it is")
        if role not in ROLES:
            raise InvalidParameter(f"role must be one of {', '.join(ROLES)}")
        token = secrets.token_urlsafe(32)
        try:
            with self.writing() as connection:
                connection.execute(TOKENS.insert().values(digest=digest(token), name=name, role=role, expires=expires))
                self._bump("catalog", connection)
        except IntegrityError:
            raise InvalidParameter("name: there is already a token called that; revoke it first, or choose another name") from None
        return token

    def revoke_token(self, name: str) -> bool:
        """The token of this name is worth nothing any more; False when there is none."""
        with self.writing() as connection:
            gone = connection.execute(delete(TOKENS).where(TOKENS.c.name == name)).rowcount > 0
            self._bump("catalog", connection)
        return gone

    def tokens(self) -> dict[bytes, Token]:
        """Whose each digest is."""
        with self.reading() as connection:
            rows = connection.execute(select(TOKENS).order_by(TOKENS.c.name))
            return {bytes(row.digest): Token(row.name, row.role, row.expires) for row in rows}


class _Documents:
    """Surveys that were used lately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Survey, int]] = OrderedDict()
        self._bytes = 0

    def get(self, survey_hash: str) -> Survey | None:
        kept = self._kept.get(survey_hash)
        return None if kept is None else kept[0]

    def add(self, survey: Survey, size: int) -> None:
        with self._lock:
            if survey.hash in self._kept:
                return
            self._kept[survey.hash] = (survey, size)
            self._bytes += size
            while self._bytes > DOCUMENT_BYTES and len(self._kept) > 1:
                _, (_, size) = self._kept.popitem(last=False)
                self._bytes -= size


def _ended(successor: str | None) -> dict[str, Any]:
    values: dict[str, Any] = {"open": False, "closed": int(time.time())}
    return values if successor is None else {**values, "successor": successor}


def digest(text: str) -> bytes:
    """What is stored of a token, and of a survey file."""
    return hashlib.sha256(text.encode()).digest()
