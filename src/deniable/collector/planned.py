"""`mechanism = "auto"`: the planner chooses, from what is asked, how many will answer, and what the collector can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from deniable import estimators, planning, studies
from deniable.batch import accumulator_for
from deniable.collector.estimates import BINS, views_of
from deniable.collector.registry import digest
from deniable.collector.store import Store
from deniable.core import (
    Binary,
    Bins,
    Categories,
    Circle,
    Disc,
    Domain,
    Interval,
    ItemSet,
    KeyValue,
    Mechanism,
    Points,
    Record,
    Rectangle,
    Report,
    Text,
    Whole,
    make_mechanism,
    mechanisms_for,
    output_bits,
    show_fraction,
)
from deniable.errors import DeniableError, InvalidParameter, MissingPackage, NotSupported
from deniable.surveys import Asked, Survey, surveys_from_toml, usual_mechanism

Learn = Literal[
    "frequency",
    "mean",
    "distribution",
    "location",
    "heavy-hitters",
    "items",
    "key-values",
    "key-distributions",
    "workload",
    "tables",
]
NEAR = 1.05
"""Mechanisms whose error is at most so many times the least count as equally good; the shortest report decides."""
SUGGESTED_BINS = 12
WORTH_BINS = 0.8
"""Bins are suggested where their intervals are at most so many times as long."""
TRIED = 32
"""Reports, spread over the outputs, that are read to see whether a mechanism can be read at all."""
VIEWS: dict[str, set[str]] = {
    "frequency": {"frequency"},
    "mean": {"mean"},
    "distribution": {"distribution"},
    "heavy-hitters": {"words"},
    "items": {"items", "sizes"},
    "key-values": {"keys", "key-means"},
    "key-distributions": {"keys", "key-means", "key-distributions"},
    "location": set(),
    "workload": {"frequency"},
    "tables": {"tables"},
}
WORDS: dict[str, str] = {
    "frequency": "noise moves a share by {error:.2g} (root mean square; 95 %: ± {half:.2g})",
    "mean": "noise moves the mean by {error:.3g} (root mean square; 95 %: ± {half:.3g})",
    "distribution": "the 95 % interval of a bin of the histogram is ± {error:.2g} (on average, for answers spread evenly)",
    "circle": "the 95 % interval of a bin of the histogram is ± {error:.2g} (on average, for answers spread evenly)",
    "location": "a report lies {error:.3g} away from the true place, on average",
    "workload": "noise moves an answer by {error:.2g} (root mean square over all {answers}; 95 %: ± {half:.2g})",
    "tables": "noise moves a cell by {error:.2g} (root mean square over all {answers}; 95 %: ± {half:.2g})",
    "items": "noise moves the share of an item by {error:.2g} (root mean square; 95 %: ± {half:.2g})",
    "key-values": "noise moves the mean of a key that one person in ten has by {error:.2g} (95 %: ± {half:.2g})",
    "key-distributions": "noise moves the share of a number, of a key that one in ten has, by {error:.2g} (95 %: ± {half:.2g})",
    "heavy-hitters": "a word is found with 95 % when {error:.2g} of the people have it",
}


@dataclass(frozen=True)
class Planned:
    """A survey, and for every attribute whose mechanism was `auto` a sentence that says what was chosen and why."""

    survey: Survey
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choice:
    """A mechanism that fits, with what it promises."""

    mechanism: Mechanism
    error: float

    @property
    def bytes(self) -> int:
        """Of a report's output."""
        return -(-output_bits(self.mechanism.channel) // 8)

    @property
    def cost(self) -> tuple[int, int, float]:
        """What decides between equally good ones; the error is rounded, so that every machine decides alike."""
        return self.bytes, self.mechanism.channel.counters, float(f"{self.error:.3g}")


def planned_survey(text: str) -> Planned:
    """A survey from its TOML text; where it says `auto` or nothing, the planner chooses.

    The same text gives the same survey: nothing is drawn, everything follows from the mechanisms' own weights. What was
    chosen stands in the survey's document, so devices need no planner.

    >>> planned_survey('''
    ... title = "Commuting"
    ... purpose = "To plan bus lines."
    ... epsilon = 1
    ... respondents = 20_000
    ... [attributes.town]
    ... question = "Where do you live?"
    ... domain = "categories:300"
    ... ''').survey.mechanism.name
    'hadamard'
    """
    planned = planned_surveys(text)
    if "" not in planned:
        raise InvalidParameter("the survey has groups, and each group is a survey of its own: planned_surveys gives all of them")
    return planned[""]


def planned_surveys(text: str) -> dict[str, Planned]:
    """The surveys of a file's groups by their names, planned once; without groups, the one survey under an empty name."""
    reasons: dict[str, str] = {}

    def choose(asked: Asked) -> Mechanism:
        try:
            recipe, reasons[asked.name] = chosen(asked)
            return recipe
        except MissingPackage:  # what a survey file means must not depend on what is installed
            raise
        except DeniableError as error:
            name = usual_mechanism(asked)
            reasons[asked.name] = f"{name}: the usual mechanism for such answers; nothing could be planned ({error})."
            usual: Mechanism = make_mechanism(name, domain=asked.domain, epsilon=asked.epsilon)
            return usual

    return {name: Planned(survey, reasons) for name, survey in surveys_from_toml(text, choose=choose).items()}


def opened(store: Store, text: str) -> dict[str, tuple[Planned, bool]]:
    """Open the surveys of a file in a store, by group, and was each new? A file that was opened before is what it was then."""
    before = {name: store.survey(survey_hash) for name, survey_hash in store.planned(text).items()}
    if before:
        return {name: (Planned(survey, store.reasons(survey.hash)), False) for name, survey in before.items() if survey is not None}
    planned = planned_surveys(text)
    created = {name: store.add_survey(one.survey) for name, one in planned.items()}
    for name, one in planned.items():
        store.add_plan(text, name, one.survey.hash, one.reasons)
    if "" not in planned:
        store.add_groups(digest(text), {name: one.survey.hash for name, one in planned.items()})
    return {name: (one, created[name]) for name, one in planned.items()}


def chosen(asked: Asked) -> tuple[Mechanism, str]:
    """The mechanism for an attribute, and why; refuses when no mechanism is left."""
    learn: Learn = "tables" if isinstance(asked.domain, Record) else "workload"
    if asked.answers is None:
        learn = learned(asked.domain, asked.learn)
    every = sorted(_candidates(asked, learn), key=lambda one: one.error)
    # Whether one can be read is tried out, which takes a while: the best first, and the others only when it matters.
    best = next((one for one in every if readable(one.mechanism, learn)), None)
    if best is None:
        raise NotSupported("no mechanism is left that this collector can read")
    near = sorted((one for one in every if best.error <= one.error <= NEAR * best.error), key=lambda one: one.cost)
    pick = next(one for one in near if one is best or readable(one.mechanism, learn))
    return pick.mechanism, _why(asked, learn, pick, best, len(every))


def learned(domain: Domain, wish: str | None) -> Learn:
    """What is asked for, from the domain and, for numbers and keys with numbers, the survey's own word."""
    if isinstance(domain, Binary | Categories):
        return "frequency"
    if isinstance(domain, Interval | Circle):
        return "mean" if wish == "mean" else "distribution"
    if isinstance(domain, Rectangle | Disc | Points):
        return "location"
    if isinstance(domain, Text | Whole):
        return "heavy-hitters"
    if isinstance(domain, ItemSet):
        return "items"
    if isinstance(domain, KeyValue):
        return "key-distributions" if wish == "distribution" else "key-values"
    raise NotSupported(f"the planner has no question about {type(domain).__name__}")


def _candidates(asked: Asked, learn: Learn) -> Iterator[Choice]:
    """Mechanisms on this very domain with their predicted errors, in the planner's order."""
    if learn == "distribution":
        assert isinstance(asked.domain, Interval | Circle)
        # The Results page shows a histogram with intervals: the narrowest ones decide.
        for kind in mechanisms_for("distribution", asked.domain):
            if kind.slow:
                continue
            try:
                mechanism = kind(domain=asked.domain, epsilon=asked.epsilon)
                half = estimators.valid_half_width(mechanism, min(BINS, asked.domain.cells), asked.respondents)
                yield Choice(mechanism, half)
            except DeniableError:
                continue
        return
    question = planning.Question(
        task="workload" if learn == "tables" else learn,
        domain=asked.domain,
        users=asked.respondents,
        epsilon=asked.epsilon,
        workload=asked.answers,
    )
    for way in planning.ways(question, asked.epsilon, slow=False):
        if isinstance(way, planning.Way) and isinstance(way.asked, Mechanism) and way.asked.domain == asked.domain:
            try:
                yield Choice(way.asked, way.predict(asked.respondents).error)
            except DeniableError:
                continue


def readable(mechanism: Mechanism, learn: Learn) -> bool:
    """Does privacy hold without a delta, and can the collector show what is asked for? The mean of numbers must be unbiased."""
    certificate = mechanism.certificate()
    if not certificate.holds or certificate.delta:
        return False
    if isinstance(mechanism.domain, Interval) and estimators.debiasing(mechanism) is None:
        return False
    try:
        outputs = mechanism.channel.outputs
        sums = accumulator_for(mechanism)
        sums.add([Report(mechanism.fingerprint, place * outputs // TRIED) for place in range(TRIED)])
        if learn == "location":
            studies.density_map(sums, cells=2, most_iterations=1)
            return True
        return VIEWS[learn] <= {view.what for view in views_of(mechanism, sums, sums, "")}
    except DeniableError:
        return False


def _why(asked: Asked, learn: Learn, pick: Choice, best: Choice, count: int) -> str:
    told = "circle" if isinstance(asked.domain, Circle) else learn
    words = WORDS[told].format(error=pick.error, half=1.96 * pick.error, answers=asked.answers)
    among = f"the best of {count} mechanisms" if count > 1 else "the one mechanism that fits,"
    if pick.bytes < best.bytes:
        more = max(100 * (pick.error / best.error - 1), 0.1)
        among = f"within {more:.1g} % of the best of {count} mechanisms ({best.mechanism.name}) with a shorter report,"
    level = show_fraction(asked.epsilon.exact)
    reason = f"{pick.mechanism.name}: {among} for {asked.respondents:,} answers at epsilon {level}; predicted: {words}."
    return reason + _in_bins(asked, pick.mechanism) if learn == "distribution" else reason


def _in_bins(asked: Asked, pick: Mechanism) -> str:
    """Where a histogram of few bins has much shorter intervals if people are asked for their bin, how to ask for it."""
    domain = asked.domain
    if not isinstance(domain, Interval):
        return ""
    bins = Bins.equal(domain.low, domain.high, SUGGESTED_BINS)
    halves = [
        planning.predicted_half_width(kind(domain=bins, epsilon=asked.epsilon), SUGGESTED_BINS, asked.respondents)
        for kind in mechanisms_for("frequency", bins)
        if not kind.slow
    ]
    half, now = min(halves), estimators.valid_half_width(pick, SUGGESTED_BINS, asked.respondents)
    if half > WORTH_BINS * now:
        return ""
    written = f"bins:{show_fraction(domain.low)},{show_fraction(domain.high)}/{SUGGESTED_BINS}"
    shorter = f"its intervals are ± {half:.2g} instead of ± {now:.2g}"
    return f' If a histogram is what you will show, ask for bins: with domain = "{written}", {shorter}.'
