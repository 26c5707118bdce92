"""The survey document: questions, one mechanism for the whole answer, budget. Any change is another hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable.core import (
    Mechanism,
    Number,
    TreeOfChanges,
    as_fraction,
    canonical_json,
    mechanism_from_recipe,
    parse_json,
)
from deniable.errors import InvalidParameter, Malformed, OutOfDomain, UnknownVersion, WrongRecipe
from deniable.surveys.admission import Admission, Shuffle, admission_from, extra_fields, shuffle_from
from deniable.surveys.changes import changes_of, check_changes
from deniable.surveys.kept_layers import layers, noise_in_common, permanent_of
from deniable.surveys.release import LIVE_WORDS, Release, Steps, release_document, release_from
from deniable.surveys.turns import turns_of

FORMAT, VERSION = "deniable-survey", 1
STRATEGIES = {"split": "product", "sample-one": "sample-one", "fake-data": "rs-fd"}
"""How several attributes share epsilon, and the mechanism that does it."""
WINDOWS = ("survey", "day", "week", "month")
MOST_BYTES = 1 << 24
MOST_TEXT = 4000
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_LAW = {"mechanism", "channel", "fingerprint", "epsilon", "budget", "strategy"}
_FIELDS = _LAW | {"format", "version", "title", "purpose", "attributes", "repeat", "window", "opens", "closes", "keep_reports"}
_FIELDS |= {"release"}
_OPTIONAL = {"admission", "shuffle"}
"""Only in documents of surveys that have them, so that the hash of others stays what it was."""


@dataclass(frozen=True)
class Attribute:
    """One question of a survey."""

    name: str
    question: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Survey:
    """What is asked, by which mechanism, and how much privacy a person can spend on it, ever.

    However many attributes there are, a whole answer is one value and one report: with several attributes
    the mechanism is one on records (`product`, `sample-one`, `rs-fd`), so its certificate covers the answer.

    >>> from deniable.core import Categories
    >>> from deniable.core import make_mechanism
    >>> commute = make_mechanism("k-rr", domain=Categories(["bike", "bus", "car"]), epsilon=1)
    >>> question = Attribute("commute", "How did you get to work today?")
    >>> survey = Survey(title="Commuting", purpose="To plan bus lines.", attributes=[question], mechanism=commute, budget=1)
    >>> Survey.from_json(survey.to_json()) == survey, len(survey.hash)
    (True, 64)
    """

    title: str
    purpose: str
    attributes: tuple[Attribute, ...]
    mechanism: Mechanism
    budget: Number
    """The most epsilon one person ever spends on this survey."""
    repeat: str = "once"
    """once; permanent (one report per window, the same one while the answer is the same); each-window (a fresh one); turns:N (a
    fresh one in every N-th window, each device in a turn of its own); random-window (one in all, between opens and closes);
    kept:P (an answer kept for every value at level P, and one drawn around it in every window); changes:C (signs of at most C
    changes of a yes or no, between opens and closes)."""
    window: str = "survey"
    opens: str | None = None
    closes: str | None = None
    """Dates, YYYY-MM-DD in UTC; the last day is included."""
    keep_reports: bool = False
    """May the collector keep single reports, or only their sums?"""
    release: Release = Steps()
    """When the collector publishes new numbers: in `Steps`, or "live"."""
    admission: Admission | None = None
    """Whose tokens admit a report; None: anybody's report is taken."""
    shuffle: Shuffle | None = None
    """How reports are mixed on their way; None: each is sent to the collector itself."""

    version: ClassVar[int] = VERSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        _check_text("title", self.title)
        _check_text("purpose", self.purpose)
        self._check_attributes()
        self._check_privacy()
        _check_choice("window", self.window, WINDOWS)
        if (self.repeat == "once") != (self.window == "survey"):
            raise InvalidParameter("window must be day, week or month when a question is repeated, and 'survey' when it is not")
        opens, closes = (checked_date(name, getattr(self, name)) for name in ("opens", "closes"))
        if opens is not None and closes is not None and closes < opens:
            raise InvalidParameter("closes must not be before opens")
        _ = self.turns  # refuses a repeat that is not one
        if self.permanent is not None:
            layers(self.mechanism, self.permanent)  # refuses mechanisms and levels that have no two layers
            if self.lifetime < self.permanent:
                raise InvalidParameter("budget must be at least the level of the kept answer")
            if self.admission is not None or self.shuffle is not None:
                raise InvalidParameter("a kept answer can be followed: it does not go with admission or shuffle")
        if not isinstance(self.keep_reports, bool):
            raise InvalidParameter("keep_reports must be true or false")
        check_changes(self)
        object.__setattr__(self, "release", release_from(self.release))
        object.__setattr__(self, "admission", admission_from(self.admission))
        object.__setattr__(self, "shuffle", shuffle_from(self.shuffle))
        if self.admission is not None and self.shuffle is not None and self.repeat != "once":
            # A batch may wait until its tokens' window is over; its reports would be refused after they were acknowledged.
            raise InvalidParameter("a survey with both admission and shuffle must be one that is answered once: leave out repeat")

    def _check_attributes(self) -> None:
        names = [attribute.name for attribute in self.attributes if isinstance(attribute, Attribute)]
        if not names or len(names) != len(self.attributes) or len(set(names)) != len(names):
            raise InvalidParameter("attributes must be at least one Attribute, each with a name of its own")
        for attribute in self.attributes:
            if not isinstance(attribute.name, str) or not _NAME.fullmatch(attribute.name):
                raise InvalidParameter("an attribute's name must be 1 to 64 of a-z, 0-9, '-' and '_', and begin with a letter")
            _check_text(f"the question of {attribute.name}", attribute.question)
        if not isinstance(self.mechanism, Mechanism):
            raise InvalidParameter(f"mechanism must be a Mechanism, got {type(self.mechanism).__name__}")
        if self.strategy is not None and list(self.mechanism.domain.fields) != names:  # type: ignore[attr-defined]
            raise InvalidParameter("the mechanism's record must have exactly the attributes as fields, in their order")
        if len(names) > 1 and self.strategy is None:
            raise InvalidParameter(f"several attributes need one of the mechanisms {', '.join(STRATEGIES.values())}")

    def _check_privacy(self) -> None:
        certificate = self.mechanism.certificate()
        if not certificate.holds:
            raise InvalidParameter(f"the mechanism does not keep its promise: {certificate.inequality}")
        if certificate.delta:
            raise InvalidParameter("a survey's mechanism must be purely private: delta must be 0")
        budget = as_fraction(self.budget)
        if budget is None or budget < self.mechanism.privacy.exact:
            raise InvalidParameter("budget must be a number that is at least the epsilon of one answer")
        object.__setattr__(self, "budget", budget)

    @property
    def strategy(self) -> str | None:
        """split, sample-one or fake-data; None when there is one attribute on its own."""
        return next((name for name, mechanism in STRATEGIES.items() if mechanism == self.mechanism.name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in the order of the questions."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def parts(self) -> dict[str, Mechanism]:
        """The mechanism of each attribute by itself."""
        if self.strategy is None:
            return {self.names[0]: self.mechanism}
        return dict(self.mechanism.parts)

    @property
    def turns(self) -> int | None:
        """Of how many turns each device has one; None where it reports in every window."""
        return turns_of(self.repeat, self.window, self.opens, self.closes)

    @property
    def permanent(self) -> Fraction | None:
        """The level of a kept answer with fresh noise around it; None where there is none."""
        return permanent_of(self.repeat)

    @property
    def changes(self) -> TreeOfChanges | None:
        """The stream whose reports devices send; None where they report values, not changes."""
        return changes_of(self.repeat, self.window, self.opens, self.closes, self.mechanism.privacy)

    @property
    def noise_in_common(self) -> Fraction:
        """How much of the noise of a report two reports of one device share, at most: 1 where it sends the same again."""
        if self.repeat == "permanent":
            return Fraction(1)
        return Fraction(0) if self.permanent is None else noise_in_common(self.mechanism, self.permanent)

    @property
    def price(self) -> Fraction:
        """What a device writes down for an answer it has not given before."""
        return self.mechanism.privacy.exact if self.permanent is None else self.permanent

    @property
    def lifetime(self) -> Fraction:
        """The budget as the exact number it is."""
        assert isinstance(self.budget, Fraction)
        return self.budget

    @property
    def release_words(self) -> str:
        """When new numbers are published, in one sentence."""
        return self.release.words if isinstance(self.release, Steps) else LIVE_WORDS

    def value(self, answers: Mapping[str, Any]) -> Any:
        """The value the mechanism takes, from one answer per attribute."""
        if not isinstance(answers, Mapping) or set(answers) != set(self.names):
            raise OutOfDomain(f"the answer must have exactly the attributes {', '.join(self.names)}")
        return answers[self.names[0]] if self.strategy is None else {name: answers[name] for name in self.names}

    def document(self) -> dict[str, Any]:
        """Everything the survey is, as JSON values; numbers that are not whole are text."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "title": self.title,
            "purpose": self.purpose,
            "attributes": [{"name": attribute.name, "question": attribute.question} for attribute in self.attributes],
            "strategy": self.strategy,
            "mechanism": self.mechanism.recipe(),
            "channel": self.mechanism.channel.compiled(),
            "fingerprint": self.mechanism.fingerprint,
            "epsilon": str(self.mechanism.privacy.exact),
            "budget": str(self.lifetime),
            "repeat": self.repeat,
            "window": self.window,
            "opens": self.opens,
            "closes": self.closes,
            "keep_reports": self.keep_reports,
            "release": release_document(self.release),
            **extra_fields(self.admission, self.shuffle),
        }

    @cached_property
    def _bytes(self) -> bytes:
        return canonical_json(self.document())

    def to_json(self) -> bytes:
        """The canonical text: sorted keys, no spaces, ASCII. One survey has one text."""
        return self._bytes

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal digits."""
        return hashlib.sha256(self._bytes).hexdigest()

    @classmethod
    def from_json(cls, data: bytes | str, *, hash: str | None = None, allow_large: bool = False) -> Survey:  # noqa: A002 - its own word
        """Somebody else's survey, rebuilt and checked: shape, integers, privacy and, when given, the hash.

        Levels above 20 are refused; pass `allow_large` to read such a survey, for example to estimate from its reports.
        """
        raw = data.encode(errors="replace") if isinstance(data, str) else data
        # Before anything is computed: what is not the promised document costs no more than this.
        if hash is not None and isinstance(raw, bytes) and hash != hashlib.sha256(raw).hexdigest():
            raise WrongRecipe("the survey's hash is not the one you were promised: this is another survey")
        document = parse_json(data, most=MOST_BYTES)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise Malformed("the text is not a survey document")
        if document.get("version") != VERSION:
            raise UnknownVersion(f"this release reads version {VERSION} of surveys")
        if set(document) - _OPTIONAL != _FIELDS:
            raise Malformed(
                f"a survey document has exactly the fields {', '.join(sorted(_FIELDS))}, and perhaps admission and shuffle"
            )
        survey = _rebuilt(document, allow_large)
        if survey.to_json() != raw:
            raise Malformed("the survey is not in canonical form, or its channel, fingerprint or epsilon is not the mechanism's")
        return survey

    def __repr__(self) -> str:
        return f"Survey({self.title!r}, {self.hash[:12]}…)"

    def __hash__(self) -> int:
        return hash(self.hash)


def _rebuilt(document: dict[str, Any], allow_large: bool) -> Survey:
    attributes = document["attributes"]
    if not isinstance(attributes, list) or not all(
        isinstance(item, dict) and set(item) == {"name", "question"} for item in attributes
    ):
        raise Malformed("attributes must be a list of objects with name and question")
    return Survey(
        title=document["title"],
        purpose=document["purpose"],
        attributes=tuple(Attribute(item["name"], item["question"]) for item in attributes),
        mechanism=mechanism_from_recipe(document["mechanism"], allow_large=allow_large),
        budget=_exact("budget", document["budget"]),
        repeat=document["repeat"],
        window=document["window"],
        opens=document["opens"],
        closes=document["closes"],
        keep_reports=document["keep_reports"],
        release=release_from(document["release"]),
        admission=admission_from(document.get("admission")),
        shuffle=shuffle_from(document.get("shuffle")),
    )


def _exact(name: str, value: object) -> Fraction:
    number = as_fraction(value) if isinstance(value, str) else None
    if number is None:
        raise Malformed(f'{name} must be text such as "3/2"')
    return number


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > MOST_TEXT:
        raise InvalidParameter(f"{name} must be text of 1 to {MOST_TEXT} characters")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidParameter(f"{name} must be one of {', '.join(choices)}")


def checked_date(name: str, value: object) -> date | None:
    """A day as text, or none."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and len(value) == 10:
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise InvalidParameter(f"{name} must be a date such as 2026-11-15")
