"""What the handlers of one worker share: the store, the writer, the surveys, the limits."""

from __future__ import annotations

import hmac
import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from starlette.requests import Request

from deniable.collector.estimates import EstimateCache
from deniable.collector.limits import Bucket, Limits
from deniable.collector.messages import Refusal
from deniable.collector.store import Store, digest
from deniable.collector.writer import Writer
from deniable.surveys import Survey, period_of

RELOAD_SECONDS = 1.0
MOST_BUCKETS = 10_000


@dataclass
class State:
    """One worker's."""

    store: Store
    writer: Writer
    limits: Limits = field(default_factory=Limits)
    submit_needs_token: bool = False
    estimates: EstimateCache = field(init=False)
    _surveys: dict[str, Survey] = field(default_factory=dict)
    _open: dict[str, bool] = field(default_factory=dict)
    _looked: float = 0.0
    _tokens_looked: float = 0.0
    _all: Bucket = field(init=False)
    _each: dict[bytes, Bucket] = field(default_factory=dict)
    _tokens: dict[bytes, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.estimates = EstimateCache(self.store)
        self._tokens = self.store.tokens()
        self._all = Bucket(self.limits.requests_per_second)

    def survey(self, survey_hash: str, *, open_only: bool = False) -> Survey:
        """A survey by its hash; refuses unknown ones and, when asked to, closed ones."""
        if time.monotonic() - self._looked > RELOAD_SECONDS:
            # Another worker or machine may have opened or closed one.
            self._open = self.store.open_hashes()
            self._looked = time.monotonic()
        if survey_hash not in self._open:
            raise Refusal(404, "there is no such survey")
        if survey_hash not in self._surveys:
            found = self.store.survey(survey_hash)
            if found is None:
                raise Refusal(404, "there is no such survey")
            self._surveys[survey_hash] = found
        survey = self._surveys[survey_hash]
        if open_only and not self.is_open(survey):
            raise Refusal(410, "the survey is closed")
        return survey

    def is_open(self, survey: Survey) -> bool:
        """Not closed by hand, and today is one of its days."""
        if not self._open.get(survey.hash, False):
            return False
        if survey.opens is None and survey.closes is None:
            return True
        today = datetime.now(UTC).date()
        if survey.opens is not None and today < date.fromisoformat(survey.opens):
            return False
        return survey.closes is None or today <= date.fromisoformat(survey.closes)

    def hashes(self) -> list[str]:
        """Every survey."""
        self._open = self.store.open_hashes()
        return sorted(self._open)

    def forget(self) -> None:
        """Look again at what is open."""
        self._looked = 0.0

    @staticmethod
    def period(survey: Survey) -> str:
        """The window it is now, for this survey: the finest time that is ever stored."""
        return "" if survey.window == "survey" else period_of(datetime.now(UTC).date(), survey.window)

    def take(self) -> None:
        """One request without a token."""
        self._all.take()

    def admit(self, request: Request, *, role: str | None) -> None:
        """Take from the buckets, and check the token where one is needed."""
        self._all.take()
        given = request.headers.get("authorization", "")
        if given:
            token = digest(given.removeprefix("Bearer "))
            known = self._token(token)
            if known is not None:
                self._bucket(token).take()
            if role is not None and (known is None or known[1] not in (role, "admin")):
                raise Refusal(403, f"the token is not one for {role}")
        elif role is not None:
            raise Refusal(401, "a token is needed: Authorization: Bearer …")

    def is_admin(self, request: Request) -> bool:
        """Does the request carry an admin's token?"""
        given = request.headers.get("authorization", "")
        known = self._token(digest(given.removeprefix("Bearer "))) if given else None
        return known is not None and known[1] == "admin"

    def _token(self, token: bytes) -> tuple[str, str] | None:
        found = self._look_up(token)
        if found is None and time.monotonic() - self._tokens_looked > RELOAD_SECONDS / 2:
            # It may have been made since; who guesses tokens must not make the database work for each guess.
            self._tokens = self.store.tokens()
            self._tokens_looked = time.monotonic()
            found = self._look_up(token)
        return found

    def _look_up(self, token: bytes) -> tuple[str, str] | None:
        return next((known for stored, known in self._tokens.items() if hmac.compare_digest(stored, token)), None)

    def _bucket(self, token: bytes) -> Bucket:
        if token not in self._each:
            if len(self._each) >= MOST_BUCKETS:
                self._each.clear()
            self._each[token] = Bucket(self.limits.token_requests_per_second)
        return self._each[token]
