"""What is said over HTTP, as types: the OpenAPI document is generated from these."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

# The lengths are no repetition: Python's $ also matches before a newline at the end.
Hex16 = Annotated[
    str, Meta(pattern="^[0-9a-f]{32}$", min_length=32, max_length=32, description="16 random bytes in hexadecimal digits")
]
HexBytes = Annotated[str, Meta(pattern="^([0-9a-f]{2})+$", max_length=1 << 17, description="bytes in hexadecimal digits")]


class SubmissionMessage(Struct, forbid_unknown_fields=True):
    """One report with its key."""

    key: Hex16
    report: HexBytes


class SubmissionsMessage(Struct, forbid_unknown_fields=True):
    """Several reports, each with its own key."""

    submissions: Annotated[list[SubmissionMessage], Meta(min_length=1, max_length=10_000)]


class Accepted(Struct):
    """How many reports were counted now, and how many were counted before."""

    accepted: int
    known: int


class Unsealed(Struct):
    """The same for shuffled reports, and how many records were none."""

    accepted: int
    known: int
    refused: int


class SurveyLine(Struct):
    """A survey in the list."""

    hash: str
    title: str
    open: bool
    n: int
    """Reports that are public; they move in the survey's steps."""
    waiting: str
    """How far it is to the first numbers, such as "23 of 100 reports"; empty when there are some."""


class SurveyList(Struct):
    """A page of this collector's surveys."""

    surveys: list[SurveyLine]
    after: str | None = None
    """What to ask for to see the next page; nothing when this is the last one."""


class Row(Struct, omit_defaults=True):
    """A number with its interval; `start` and `end` are a bin's."""

    label: str
    value: float
    low: float
    high: float
    start: float | None = None
    end: float | None = None


class View(Struct):
    """One way to look at an attribute: frequency, mean, distribution, quantiles, direction, map or trend."""

    what: str
    method: str
    rows: list[Row]
    reports_needed: int | None = None
    """About how many reports would do, where there are too few to tell."""


class AttributeEstimate(Struct):
    """What is known about one attribute. `note` says why there is nothing, or that reports are too few to tell."""

    name: str
    question: str
    domain: str
    mechanism: str
    n: int
    views: list[View]
    note: str | None = None


class Estimates(Struct):
    """Everything that is known about a survey, per window."""

    survey: str
    title: str
    n: int
    level: float
    window: str
    """The window these numbers are of; empty means all of them together."""
    windows: dict[str, int]
    """Every window that is public and its number of reports; all together may be more."""
    attributes: list[AttributeEstimate]
    epsilon: str
    """What one answer costs, as the survey writes it."""
    release: str
    """When new numbers are published, in words."""
    waiting: str = ""
    """How far it is to the first numbers, such as "23 of 100 reports"; empty when there are some."""
    as_of: str = ""
    """When these numbers became public; empty when they are live."""


class GroupLine(Struct):
    """A group, its own survey, and how many of its reports are public."""

    name: str
    survey: str
    n: int
    waiting: str
    """How far it is to the group's first numbers; empty when there are some."""


class GroupRow(Struct):
    """What one group says, with an interval that holds together with those of all other groups and answers of the question."""

    group: str
    label: str
    value: float
    low: float
    high: float


class GroupedAttribute(Struct):
    """One question, group by group: shares of answers, a mean, or a median."""

    name: str
    question: str
    domain: str
    what: str
    """frequency, mean or median; empty when there is nothing to compare, and then `note` says why."""
    rows: list[GroupRow]
    note: str = ""


class Groups(Struct):
    """The groups that a survey is compared with, itself among them; none when it has no groups.

    Two groups differ when their intervals do not overlap. All such statements about one question are true together in `level` of
    all such surveys.
    """

    survey: str
    level: float
    groups: list[GroupLine]
    attributes: list[GroupedAttribute]


class SurveyState(Struct):
    """May one answer now? The document does not say, since it never changes."""

    open: bool
    next_round: str | None = None
    """The hash of the survey that follows this one."""


class OperatorsView(Struct):
    """What the operator of a survey sees beside its numbers."""

    hash: str
    title: str
    open: bool
    stored: int
    """All reports that were counted, public or not."""
    next_round: str | None
    kept: str
    """How long single reports and receipts are kept, in a sentence."""


class Health(Struct):
    """Is the collector able to count?"""

    status: str


class Created(Struct):
    """A survey is there."""

    hash: str
    created: bool
    reasons: dict[str, str] = {}
    """For every attribute whose mechanism was `auto`: what was chosen, and why."""
    groups: dict[str, str] = {}
    """When the file has groups, the hash of each one's survey; `hash` is the first one's."""


class Problem(Struct):
    """Why a request was refused."""

    error: str


class Refusal(Exception):
    """A request that is refused, with the status to say so."""

    def __init__(self, status: int, why: str, *, retry_after: int | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.why = why
        self.retry_after = retry_after


ENCODER = msgspec.json.Encoder()
_SINGLE = msgspec.json.Decoder(SubmissionMessage)
_SEVERAL = msgspec.json.Decoder(SubmissionsMessage)
_QUOTES = 8
"""Quotation marks of one submission: around two names and two values, none of which can contain one."""

_USUAL = re.compile(rb'\{"key":"([0-9a-f]{32})","report":"([0-9a-f]{2,131072})"\}')
"""A submission as our clients write it; every other way to write the same JSON is read by the rules of its types."""


def read_single(body: bytes) -> SubmissionMessage:
    """One submission; msgspec takes the last of repeated fields, and counting the quotation marks finds them."""
    usual = _USUAL.fullmatch(body)
    if usual is not None and len(usual[2]) % 2 == 0:
        return SubmissionMessage(usual[1].decode(), usual[2].decode())
    try:
        message = _SINGLE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        message = None
    if message is None or body.count(b'"') != _QUOTES:
        raise Refusal(400, "a submission is JSON with exactly the fields key and report, each once")
    return message


def read_several(body: bytes) -> list[SubmissionMessage]:
    """Several submissions, each field once."""
    try:
        messages = _SEVERAL.decode(body).submissions
    except (msgspec.DecodeError, UnicodeDecodeError):
        messages = []
    if not messages or body.count(b'"') != _QUOTES * len(messages) + 2:
        rule = "several submissions are JSON with the one field submissions, a list of 1 to 10,000"
        raise Refusal(400, f"{rule}, each with the fields key and report, each once")
    return messages
