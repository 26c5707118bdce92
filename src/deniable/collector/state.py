"""What the handlers of one worker share: the store, the writer, the surveys, the limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from starlette.requests import Request

from deniable.collector.catalog import LOOK_SECONDS, Catalog
from deniable.collector.connections import Connections
from deniable.collector.deadlines import off_loop
from deniable.collector.estimate_cache import EstimateCache
from deniable.collector.limits import Bucket, Limits
from deniable.collector.messages import Refusal
from deniable.collector.metrics import Requests
from deniable.collector.pulse import Pulse
from deniable.collector.readiness import Readiness
from deniable.collector.registry import Token, digest
from deniable.collector.store import Store
from deniable.collector.writer import SHED_WAITING, Writer
from deniable.surveys import Survey, period_of

MOST_BUCKETS = 10_000


def current_period(survey: Survey) -> str:
    """The window it is now, for this survey: the finest time that is ever stored."""
    return "" if survey.window == "survey" else period_of(datetime.now(UTC).date(), survey.window)


@dataclass
class State:
    """One worker's."""

    store: Store
    writer: Writer
    limits: Limits = field(default_factory=Limits)
    submit_needs_token: bool = False
    estimates: EstimateCache = field(init=False)
    catalog: Catalog = field(init=False)
    readiness: Readiness = field(init=False)
    requests: Requests = field(default_factory=Requests)
    connections: Connections | None = None
    pulse: Pulse = field(default_factory=Pulse)
    _all: Bucket = field(init=False)
    _guessed: float = 0.0
    _each: dict[bytes, Bucket] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.estimates = EstimateCache(self.store)
        self.catalog = Catalog(self.store)
        self.readiness = Readiness(self.store, self.writer)
        self._all = Bucket(self.limits.requests_per_second)

    async def survey(self, survey_hash: str, *, open_only: bool = False) -> Survey:
        """A survey by its hash; refuses unknown ones and, when asked to, closed ones."""
        survey = self.at_hand(survey_hash)
        if survey is None:
            survey = await off_loop(self._stored, survey_hash)
        if open_only:
            self.refuse_closed(survey)
        return survey

    def at_hand(self, survey_hash: str) -> Survey | None:
        """A survey that is known without asking the database."""
        return self.store.at_hand(survey_hash) if self.catalog.fresh and survey_hash in self.catalog.open else None

    def _stored(self, survey_hash: str) -> Survey:
        # Another worker or machine may have opened it a moment ago.
        self.catalog.look(now=False)
        survey = self.store.survey(survey_hash) if survey_hash in self.catalog.open else None
        if survey is None:
            raise Refusal(404, "there is no such survey")
        return survey

    def refuse_closed(self, survey: Survey) -> None:
        """Who answers now comes in time, or is refused."""
        if not self.is_open(survey):
            raise Refusal(410, "the survey is closed")

    def is_open(self, survey: Survey) -> bool:
        """Not closed by hand, and today is one of its days."""
        if not self.catalog.open.get(survey.hash, False):
            return False
        if survey.opens is None and survey.closes is None:
            return True
        today = datetime.now(UTC).date()
        if survey.opens is not None and today < date.fromisoformat(survey.opens):
            return False
        return survey.closes is None or today <= date.fromisoformat(survey.closes)

    def take(self, *, counts: bool = False) -> None:
        """One request without a token. To refuse a submission costs nearly as much as to take it: that alone helps nobody.

        So it is taken, late or not, while few wait to be written; else a crowd that keeps coming back would leave nothing to count.
        """
        if self.pulse.late and not (counts and self.writer.waiting < SHED_WAITING):
            raise Refusal(503, "busy; come back later with the same key", retry_after=1)
        self._all.take()

    def measured(self) -> tuple[dict[str, float], dict[str, float]]:
        """Counters and gauges of this worker, by their Prometheus names."""
        tally, dropped = self.writer.tally, {} if self.connections is None else self.connections.dropped
        counters: dict[str, float] = {
            "deniable_reports_accepted_total": tally.accepted,
            "deniable_reports_known_total": tally.known,
            "deniable_transactions_total": tally.transactions,
            "deniable_transaction_failures_total": self.writer.failures.total,
            "deniable_shed_total": tally.shed,
            **tally.seconds.samples("deniable_transaction_seconds"),
            **{f'deniable_connections_dropped_total{{why="{why}"}}': n for why, n in dropped.items()},
            **self.requests.samples(),
        }
        connections = 0 if self.connections is None else len(self.connections)
        return counters, {"deniable_waiting": self.writer.waiting, "deniable_connections": connections}

    async def admit(self, request: Request, *, role: str | None) -> None:
        """Take from the buckets, and check the token where one is needed."""
        self.take()
        given = request.headers.get("authorization", "")
        if given:
            name = digest(given.removeprefix("Bearer "))
            known = await self._token(name)
            if known is not None:
                self._bucket(name).take()
            if role is not None and (known is None or known.role not in (role, "admin")):
                raise Refusal(403, f"the token is not one for {role}")
        elif role is not None:
            raise Refusal(401, "a token is needed: Authorization: Bearer …")

    async def is_admin(self, request: Request) -> bool:
        """Does the request carry an admin's token?"""
        given = request.headers.get("authorization", "")
        known = await self._token(digest(given.removeprefix("Bearer "))) if given else None
        return known is not None and known.role == "admin"

    async def _token(self, name: bytes) -> Token | None:
        known = self.catalog.token(name) if self.catalog.fresh else None
        if known is None and time.monotonic() - self._guessed > LOOK_SECONDS:
            # It may have been made since; who guesses tokens must not make the database work for each guess.
            self._guessed = time.monotonic()
            await off_loop(self.catalog.look)
            known = self.catalog.token(name)
        return known

    def _bucket(self, token: bytes) -> Bucket:
        if token not in self._each:
            if len(self._each) >= MOST_BUCKETS:
                self._each.clear()
            self._each[token] = Bucket(self.limits.token_requests_per_second)
        return self._each[token]
