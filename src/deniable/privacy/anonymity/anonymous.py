"""A device's way into an anonymous survey: a token for every report, and encryption to the collector behind a shuffler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from deniable.core import encode_report
from deniable.errors import InvalidParameter, NotDelivered
from deniable.privacy.anonymity.sealing import SEALED_TYPE, seal_report
from deniable.privacy.anonymity.wallet import Wallet, token_header, with_token
from deniable.surveys import Ledger, Session, Survey, Transport, period_of, submission_from_json

_END = "/submissions"


def _today() -> date:
    return datetime.now(UTC).date()


@dataclass(frozen=True)
class AnonymousTransport:
    """Adds to every report what its survey asks for: a one-time token, and encryption to the collector where reports are shuffled.

    `carrier` takes it there: an `ObliviousTransport`, so that nobody sees the sender's address beside the report.
    """

    survey: Survey
    carrier: Transport
    wallet: Wallet | None = None
    today: Callable[[], date] = field(default=_today, repr=False)

    def __post_init__(self) -> None:
        if self.survey.admission is not None and self.wallet is None:
            raise InvalidParameter("this survey takes reports only with a token: give the wallet that holds them")

    def get(self, url: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        return self.carrier.get(url)

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        if not url.endswith(_END):
            return self.carrier.post(url, body, content_type)
        survey, carrier = self.survey, self.carrier
        submission = submission_from_json(survey, body)
        if survey.admission is not None:
            assert self.wallet is not None
            token = self.wallet.token(survey.hash, period_of(self.today(), survey.window), submission.key)
            carrier = with_token(carrier, token_header(token))
        if survey.shuffle is not None:
            sealed = seal_report(survey, submission.key, encode_report(survey.mechanism, submission.report))
            url, body, content_type = f"{url.removesuffix(_END)}/sealed", submission.key + sealed, SEALED_TYPE
        return carrier.post(url, body, content_type)


def anonymous_session(
    collector: str, survey_hash: str, ledger: Ledger, *, transport: Transport, wallet: Wallet | None = None
) -> Session:
    """A session for a survey with tokens or a shuffler. `collector` is the address of what is behind the relay.

    The survey's document is fetched the same way as reports are sent, checked against its hash, and says what is needed.
    """
    status, data = transport.get(f"{collector.rstrip('/')}/v1/surveys/{survey_hash}")
    if status != 200:
        raise NotDelivered(f"the survey is not given out there (status {status})")
    survey = Survey.from_json(data, hash=survey_hash)
    return Session(survey, ledger, collector, transport=AnonymousTransport(survey, transport, wallet))
