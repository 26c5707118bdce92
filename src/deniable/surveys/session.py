"""One device and one survey: check it, answer within the budget, send until it is acknowledged."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from deniable.core import SYSTEM, Rappor, Report, decode_report, encode_report, meaning, show_fraction
from deniable.errors import InvalidParameter, NotAdmitted, NotDelivered
from deniable.surveys.changes import new_memory, next_report
from deniable.surveys.document import Survey
from deniable.surveys.kept_layers import layers
from deniable.surveys.ledger import Ledger, Pending
from deniable.surveys.limits import allows_large, check_pairs, check_survey, check_work
from deniable.surveys.submission import Submission, submission_to_json, submissions_to_json
from deniable.surveys.transport import HttpTransport, Transport
from deniable.surveys.turns import repeat_words, window_number

if TYPE_CHECKING:
    from deniable.core import Privacy

LATER = (408, 425, 429, 500, 502, 503, 504)
"""Statuses that mean: later, same key."""
NO_TOKEN = (401, 403)
TOGETHER = 1000
"""Pending submissions in one request."""
TOGETHER_BYTES = 100_000
"""And how long such a request may be: with its padding it has to pass a relay."""


@dataclass(frozen=True)
class Patience:
    """How often to try again, and how long to wait: twice as long each time, and a random part of that."""

    attempts: int = 5
    first: float = 0.5
    most: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def wait(self, attempt: int) -> None:
        """Between half and all of first * 2**attempt seconds, so that devices do not return in step."""
        longest = min(self.first * 2**attempt, self.most)
        self.sleep(longest * (0.5 + SYSTEM.below(1 << 20) / (1 << 21)))


@dataclass(frozen=True)
class Receipt:
    """What became of an answer."""

    delivered: bool
    spent: Fraction
    left: Fraction
    silent: bool = False
    """The device says nothing in this window: it is not its turn, or no stretch of a survey of changes ends."""


class Session:
    """Answers a survey for one person.

    The survey is checked before anything else: hash, canonical form, the channel's integers, and the ratio of its
    weights against its epsilon. A survey that could cost more over its whole life than the ledger's limit is refused.
    Every draw is in the ledger before it is sent; when the collector cannot be
    reached the report waits there, and `deliver` sends it later, the same bytes under the same key.
    `token` is for collectors that take reports only with one; it goes with reports, over HTTPS or to this machine, and is kept
    in memory only. `accepts` says which pairs of answers must be protected, and how, for surveys that do not protect all of them
    alike.

    >>> import tempfile
    >>> from deniable.surveys import MockTransport
    >>> from deniable.surveys import survey_from_toml
    >>> text = 'title="Smoking"\\npurpose="Health."\\nepsilon=1\\n[attributes.smokes]\\nquestion="Do you?"\\ndomain="binary"'
    >>> survey = survey_from_toml(text)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     device = Session(survey, Ledger(folder + "/ledger.db"), "http://localhost", transport=MockTransport())
    ...     device.answer({"smokes": True}).delivered
    True
    """

    def __init__(
        self,
        survey: Survey,
        ledger: Ledger,
        collector: str,
        *,
        transport: Transport | None = None,
        token: str | None = None,
        patience: Patience | None = None,
        accepts: Privacy | None = None,
    ) -> None:
        if not isinstance(survey, Survey) or not isinstance(ledger, Ledger):
            raise InvalidParameter("a session needs a Survey and a Ledger")
        if survey.repeat == "permanent" and any(isinstance(part, Rappor) for part in survey.parts.values()):
            raise InvalidParameter("rappor keeps its own permanent bits; use deniable.surveys.Repeated")
        check_survey(survey, ledger.limit)
        check_work(survey.mechanism)
        check_pairs(survey.mechanism, accepts)
        self.survey = survey
        self.ledger = ledger
        self.address = f"{collector.rstrip('/')}/v1/surveys/{survey.hash}"
        self.transport: Transport = _carrier(transport, token)
        if isinstance(self.transport, HttpTransport):
            self.transport.check(self.address)
        self.patience = Patience() if patience is None else patience

    @classmethod
    def open(
        cls,
        collector: str,
        survey_hash: str,
        ledger: Ledger,
        *,
        transport: Transport | None = None,
        token: str | None = None,
        patience: Patience | None = None,
        accepts: Privacy | None = None,
    ) -> Session:
        """Fetch the survey with this hash from a collector, check it, and begin."""
        carrier = _carrier(transport, token)
        status, data = carrier.get(f"{collector.rstrip('/')}/v1/surveys/{survey_hash}")
        if status != 200:
            raise NotDelivered(f"the collector does not give out this survey (status {status})")
        survey = Survey.from_json(data, hash=survey_hash, allow_large=allows_large(ledger.limit))
        return cls(survey, ledger, collector, transport=carrier, patience=patience, accepts=accepts)

    def explain(self) -> str:
        """What will be sent and what it means, in plain words: show it before asking."""
        survey = self.survey
        asked = "; ".join(attribute.question for attribute in survey.attributes)
        left = survey.lifetime - self.ledger.spent(survey.hash)
        together = None if survey.repeat == "once" else survey.lifetime
        promise = survey.mechanism.promise
        if promise is None:
            hidden = meaning(survey.mechanism.privacy, together)
        else:
            domain = survey.mechanism.domain
            hidden = promise.words([domain.decode(index) for index in range(domain.size)]).replace("\n", " ")
        if survey.turns is not None or survey.permanent is not None or survey.changes is not None:
            hidden = f"{hidden} {repeat_words(survey.repeat, survey.window)}"
        return (
            f"{survey.title}. {survey.purpose} You are asked: {asked} Only a randomized report leaves this device. "
            f"{hidden} Of the budget {show_fraction(survey.lifetime)} for this survey "
            f"you have {show_fraction(left)} left, and of your own limit {show_fraction(self.ledger.limit)} for all surveys "
            f"{show_fraction(self.ledger.left())}."
        )

    def answer(self, answers: Mapping[str, Any], *, today: date | None = None) -> Receipt:
        """Randomize, write down, send. A report that cannot be sent now waits in the ledger."""
        survey, mechanism = self.survey, self.survey.mechanism
        day = datetime.now(UTC).date() if today is None else today
        self._check_open(day)
        index = mechanism.encode(survey.value(answers))
        if survey.turns is not None and window_number(day, survey.window) % survey.turns != self.ledger.turn(
            survey.hash, survey.turns
        ):
            spent = self.ledger.spent(survey.hash)
            return Receipt(False, spent, survey.lifetime - spent, silent=True)
        pending = self._drawn(survey.value(answers), day) if survey.changes is None else self._walked(index, day)
        if pending is None:
            spent = self.ledger.spent(survey.hash)
            return Receipt(False, spent, survey.lifetime - spent, silent=True)
        try:
            self._send([pending])
            delivered = True
        except NotAdmitted:
            raise
        except NotDelivered:
            delivered = not any(waiting.key == pending.key for waiting in self.ledger.pending(survey.hash))
            if delivered:  # refused for good: waiting would not help
                raise
        spent = self.ledger.spent(survey.hash)
        return Receipt(delivered, spent, survey.lifetime - spent)

    def _drawn(self, value: Any, day: date) -> Pending:
        """This window's report: drawn now, kept from before, or drawn around what is kept."""
        survey, mechanism = self.survey, self.survey.mechanism
        index = mechanism.encode(value)
        kept = None if survey.permanent is None else layers(mechanism, survey.permanent)

        def make() -> bytes:
            if kept is not None:
                return str(kept[0].draw(index, SYSTEM)).encode()
            return encode_report(mechanism, mechanism.randomize(value, SYSTEM))

        def around(answer: bytes) -> bytes:
            assert kept is not None
            return encode_report(mechanism, Report(mechanism.fingerprint, kept[1].draw(int(answer), SYSTEM)))

        return self.ledger.draw(
            survey.hash,
            period_of(day, survey.window),
            epsilon=survey.price,
            budget=survey.lifetime,
            make=make,
            permanent=str(index).encode() if survey.repeat == "permanent" or kept is not None else None,
            around=None if kept is None else around,
        )

    def _walked(self, value: int, day: date) -> Pending | None:
        """This window's report of a survey of changes, if the device is heard in it."""
        survey, stream, mechanism = self.survey, self.survey.changes, self.survey.mechanism
        assert stream is not None
        assert survey.opens is not None
        period = window_number(day, survey.window) - window_number(date.fromisoformat(survey.opens), survey.window)

        def step(memory: dict[str, Any]) -> bytes | None:
            output = next_report(stream, memory, period, value, SYSTEM)
            return None if output is None else encode_report(mechanism, Report(mechanism.fingerprint, output))

        return self.ledger.walk(
            survey.hash,
            period_of(day, survey.window),
            epsilon=survey.price,
            budget=survey.lifetime,
            begin=lambda: new_memory(stream, SYSTEM),
            step=step,
        )

    def deliver(self, *, today: date | None = None) -> int:
        """Send what is waiting; returns how many reports were handed over.

        In a survey of changes a report belongs to its window. When that is over it is forgotten, as if the device had been
        away: the collector would count it in another one.
        """
        waiting = self.ledger.pending(self.survey.hash)
        if self.survey.changes is not None:
            now = period_of(datetime.now(UTC).date() if today is None else today, self.survey.window)
            for late in (item for item in waiting if item.period != now):
                self.ledger.settle(late, refused=True)
            waiting = [item for item in waiting if item.period == now]
        # A token admits one report, and what is shuffled must not arrive together.
        alone = self.survey.admission is not None or self.survey.shuffle is not None
        longest = max((2 * len(item.report) for item in waiting), default=0) + 64
        together = 1 if alone else max(1, min(TOGETHER, TOGETHER_BYTES // longest))
        for begin in range(0, len(waiting), together):
            self._send(waiting[begin : begin + together])
        return len(waiting)

    def _check_open(self, day: date) -> None:
        survey = self.survey
        if survey.opens is not None and day < date.fromisoformat(survey.opens):
            raise InvalidParameter(f"the survey opens on {survey.opens}")
        if survey.closes is not None and day > date.fromisoformat(survey.closes):
            raise InvalidParameter(f"the survey closed on {survey.closes}")

    def _send(self, waiting: list[Pending]) -> None:
        mechanism = self.survey.mechanism
        submissions = [Submission(item.key, decode_report(mechanism, item.report)) for item in waiting]
        if len(submissions) == 1:
            url, body = f"{self.address}/submissions", submission_to_json(self.survey, submissions[0])
        else:
            url, body = f"{self.address}/batches", submissions_to_json(self.survey, submissions)
        status = self._post(url, body)
        if status in NO_TOKEN:
            step = "open the session with token=… and call deliver()"
            raise NotAdmitted(f"the collector takes reports only with a token of its own; the report waits in the ledger: {step}")
        refused = status != 200
        for item in waiting:
            self.ledger.settle(item, refused=refused)
        if refused:
            raise NotDelivered(f"the collector refused the report permanently (status {status}); it will not be sent again")

    def _post(self, url: str, body: bytes) -> int:
        """The final status; tries again while the answer is 'later' or there is none."""
        for attempt in range(self.patience.attempts):
            if attempt:
                self.patience.wait(attempt - 1)
            try:
                status, _ = self.transport.post(url, body, "application/json")
            except NotDelivered:
                continue
            if status not in LATER and not 300 <= status < 400:  # a redirect is somebody else's answer: a hotel's page, say
                return status
        raise NotDelivered("the collector cannot be reached or is busy; the report waits in the ledger")

    def __repr__(self) -> str:
        return f"Session({self.survey!r}, {self.ledger!r})"


def _carrier(transport: Transport | None, token: str | None) -> Transport:
    if transport is None:
        return HttpTransport(token=token)
    if token is not None:
        raise InvalidParameter("give a transport or a token; HttpTransport(token=…) is both")
    return transport


def period_of(day: date, window: str) -> str:
    """The name of the window a day lies in.

    >>> [period_of(date(2026, 11, 15), window) for window in ("survey", "day", "week", "month")]
    ['', '2026-11-15', '2026-W46', '2026-11']
    """
    if window == "survey":
        return ""
    if window == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02}"
    return day.isoformat() if window == "day" else day.isoformat()[:7]
