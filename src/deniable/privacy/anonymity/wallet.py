"""A device's tokens: fetched ahead of time, all at once, and spent one by one later, so that times tell nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import sqlite3
import urllib.parse
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from deniable.errors import BadMessage, InvalidParameter, NotAdmitted, NotDelivered
from deniable.privacy.anonymity.blind_rsa import Blinded
from deniable.privacy.anonymity.tokens import (
    PUBLIC,
    REQUEST_MEDIA,
    PendingToken,
    PublicTokenKey,
    Token,
    TokenChallenge,
    public_key_from_bytes,
)
from deniable.surveys import PrivateDatabase, Survey, Transport, checked_token, period_of

APPLICATION, VERSION = 0x646E776C, 1
"""'dnwl' in the file's header tells a wallet from other SQLite files."""
REQUEST_PATH = "/token-request"
_SCHEMA = (
    "CREATE TABLE pending (survey TEXT, period TEXT, place INTEGER, request BLOB NOT NULL, signed BLOB NOT NULL,"
    " inverse BLOB NOT NULL, PRIMARY KEY (survey, period, place)) WITHOUT ROWID",
    "CREATE TABLE tokens (survey TEXT, period TEXT, nonce BLOB, token BLOB NOT NULL, spent_on BLOB,"
    " PRIMARY KEY (survey, period, nonce)) WITHOUT ROWID",
)


def survey_challenge(survey: Survey, period: str) -> TokenChallenge:
    """What a token of this survey is good for: the survey by its hash, in this one window (RFC 9577)."""
    if survey.admission is None:
        raise InvalidParameter("this survey asks for no token")
    context = hashlib.sha256(b"deniable survey\0" + bytes.fromhex(survey.hash) + period.encode()).digest()
    return TokenChallenge(PUBLIC, urllib.parse.urlsplit(survey.admission.issuer).netloc, context)


def periods_ahead(survey: Survey, day: date) -> Iterator[str]:
    """The windows from this day on."""
    last = ""
    while True:
        period = period_of(day, survey.window)
        if survey.window == "survey" or period != last:
            yield period
        last = period
        day += timedelta(days=1)


class Wallet:
    """Tokens of one person in a file that only its owner can read.

    Requests are on disk before they are sent, so a crash loses none: the same requests are sent again, and the issuer answers them
    again. A token is on disk, with the report it is for, before it is spent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Wallet(folder + "/wallet.db").left("0" * 64)
    0
    """

    __slots__ = ("_file",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = PrivateDatabase(path)
        self._file.identify("wallet", _prepare)

    def fetch(
        self, survey: Survey, credential: str, transport: Transport, *, count: int | None = None, today: date | None = None
    ) -> int:
        """Ask the issuer for tokens of this survey, as many as a person gets unless `count` says less; how many are there now.

        Each is for one window, beginning with today's. `credential` shows who asks: an invitation code, or what the issuer's own
        check wants. `transport` carries it as a bearer's token.
        """
        admission = survey.admission
        if admission is None:
            raise InvalidParameter("this survey asks for no token")
        wanted = admission.tokens if count is None else count
        if not 1 <= wanted <= admission.tokens:
            raise InvalidParameter(f"count must be a whole number from 1 to {admission.tokens}, the tokens of one person")
        key = public_key_from_bytes(admission.key_bytes)
        assert isinstance(key, PublicTokenKey)
        day = datetime.now(UTC).date() if today is None else today
        rows = self._asked(survey, key, list(islice(periods_ahead(survey, day), wanted)))
        if rows:
            requests = [row[2].request for row in rows]
            answers = _issued(transport, admission.issuer, credential, requests)
            tokens = [(period, key.receive(pending, answer)) for (period, _, pending), answer in zip(rows, answers, strict=True)]
            with self._file.writing() as connection:
                for period, token in tokens:
                    row = (survey.hash, period, token.nonce, token.to_bytes())
                    connection.execute("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?, ?, NULL)", row)
                connection.execute("DELETE FROM pending WHERE survey = ?", (survey.hash,))
        return self.left(survey.hash)

    def _asked(self, survey: Survey, key: PublicTokenKey, periods: list[str]) -> list[tuple[str, int, PendingToken]]:
        """The requests that are under way, or new ones for what is still missing."""
        with self._file.writing() as connection:
            query = "SELECT period, place, request, signed, inverse FROM pending WHERE survey = ? ORDER BY period, place"
            rows = connection.execute(query, (survey.hash,)).fetchall()
            if rows:
                return [(row[0], row[1], _pending(*row[2:])) for row in rows]
            have = connection.execute("SELECT count(*) FROM tokens WHERE survey = ?", (survey.hash,)).fetchone()[0]
            asked = []
            for place, period in enumerate(periods[have:]):
                pending = key.ask(survey_challenge(survey, period))
                assert isinstance(pending.secret, Blinded)
                inverse = pending.secret.inverse.to_bytes(key.key.size, "big")
                row = (survey.hash, period, place, pending.request, pending.signed, inverse)
                connection.execute("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?)", row)
                asked.append((period, place, pending))
            return asked

    def token(self, survey: str, period: str, key: bytes) -> Token:
        """The token for the report under this key, always the same one; NotAdmitted when there is none left for this window."""
        with self._file.writing() as connection:
            query = "SELECT token FROM tokens WHERE survey = ? AND spent_on = ?"
            row = connection.execute(query, (survey, key)).fetchone()
            if row is None:
                free = "SELECT token, nonce FROM tokens WHERE survey = ? AND period = ? AND spent_on IS NULL ORDER BY nonce LIMIT 1"
                row = connection.execute(free, (survey, period)).fetchone()
                if row is None:
                    raise NotAdmitted("no token is left for this window; fetch some with `deniable wallet fetch`")
                spend = "UPDATE tokens SET spent_on = ? WHERE survey = ? AND period = ? AND nonce = ?"
                connection.execute(spend, (key, survey, period, row[1]))
            return Token.from_bytes(bytes(row[0]))

    def left(self, survey: str) -> int:
        """How many tokens of a survey are not yet spent."""
        with self._file.reading() as connection:
            query = "SELECT count(*) FROM tokens WHERE survey = ? AND spent_on IS NULL"
            return int(connection.execute(query, (survey,)).fetchone()[0])

    def __repr__(self) -> str:
        return f"Wallet({str(self._file.path)!r})"


def _prepare(connection: sqlite3.Connection) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif application != APPLICATION:
        raise InvalidParameter("path must be a wallet or a new file; this is another database")


def _pending(request: bytes, signed: bytes, inverse: bytes) -> PendingToken:
    secret = Blinded(bytes(request[3:]), bytes(signed), int.from_bytes(inverse, "big"))
    return PendingToken(bytes(request), bytes(signed), secret)


def _issued(transport: Transport, issuer: str, credential: str, requests: list[bytes]) -> list[bytes]:
    carrier = with_token(transport, checked_token(credential))
    status, data = carrier.post(issuer.rstrip("/") + REQUEST_PATH, b"".join(requests), REQUEST_MEDIA)
    if status in (401, 403, 409):
        raise NotAdmitted(f"the issuer gives no tokens for this credential (status {status}): it is unknown, or was used before")
    if status != 200:
        raise NotDelivered(f"the issuer does not answer (status {status}); the requests are kept, fetch again later")
    size = len(data) // len(requests)
    if len(data) != size * len(requests):
        raise BadMessage("the issuer answered another number of requests")
    return [data[at : at + size] for at in range(0, len(data), size)]


def with_token(transport: Transport, token: str) -> Transport:
    """The same transport, with a token for what is posted."""
    given = getattr(transport, "with_token", None)
    if given is None:
        raise InvalidParameter(
            "transport must be able to carry a token: HttpTransport, ObliviousTransport, or one with with_token()"
        )
    carrier: Transport = given(token)
    return carrier


def token_header(token: Token) -> str:
    """The value of a header that spends it (RFC 9577)."""
    return f'PrivateToken token="{base64.urlsafe_b64encode(token.to_bytes()).decode()}"'
