"""A survey as people write it: a TOML file, read once, compiled to the canonical document."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from deniable.core import (
    USUAL,
    Binary,
    Categories,
    Domain,
    Epsilon,
    Interval,
    KeyValue,
    Mechanism,
    ProductMechanism,
    RandomSamplingPlusFakeData,
    Record,
    SampleOne,
    TreeOfChanges,
    domain_from_recipe,
    make_mechanism,
)
from deniable.errors import InvalidParameter
from deniable.surveys.changes import changes_of, mechanism_for
from deniable.surveys.document import STRATEGIES, Attribute, Survey, checked_date
from deniable.surveys.domain_text import parse_domain

USUAL_RESPONDENTS = 10_000
"""How many people are planned for when the survey does not say."""
MOST_RESPONDENTS = 10**12
MOST_GROUPS, MOST_GROUP_TEXT = 12, 60
GROUP_WORDS = "Answers are compared between groups. Your group, {group}, is not hidden; your answer is."
"""What a group's survey says after its purpose."""
LEARN = ("distribution", "mean")
"""What a number is asked for: all there is, or its mean alone, as well as that can be."""
ANSWERS = ("histogram", "prefix", "ranges")
"""What ordered categories are asked for: the share of each, of all up to each, or of every range of neighbours."""

TABLES = "marginals:"
"""Before K: what a record is asked for, all tables of K of its fields."""

_SURVEY = {"title", "purpose", "epsilon", "budget", "strategy", "repeat", "window", "opens", "closes", "keep_reports", "attributes"}
_SURVEY |= {"respondents", "release", "groups", "admission", "shuffle"}
_ATTRIBUTE = {"question", "domain", "mechanism", "epsilon", "parameters", "learn", "answers"}


@dataclass(frozen=True)
class Asked:
    """An attribute whose mechanism is `auto`: what a chooser may know."""

    name: str
    domain: Domain
    epsilon: Epsilon
    respondents: int
    """How many people are expected to answer this attribute."""
    learn: str | None = None
    """"mean" or "distribution", when the survey says which; only for numbers."""
    answers: str | None = None
    """"histogram", "prefix" or "ranges" of ordered categories, "marginals:K" of a record, when the survey says which."""


Choose = Callable[[Asked], str | Mechanism]
"""Answers `mechanism = "auto"`: a mechanism, or the name of one."""


def usual_mechanism(asked: Asked) -> str:
    """The usual mechanism for a domain: what `auto` means when nobody plans. For numbers, one that shows the distribution."""
    if asked.answers is not None and asked.answers.startswith(TABLES):
        return "marginals"
    if isinstance(asked.domain, Interval):
        return "hm" if asked.learn == "mean" else "sw"
    if isinstance(asked.domain, KeyValue) and asked.learn == "distribution":
        return "pair-set"
    usual = USUAL.get(type(asked.domain))
    if usual is None:
        raise InvalidParameter(f"attributes.{asked.name}.mechanism: none is usual for {type(asked.domain).__name__}; name one")
    return usual


def survey_from_toml(text: str, *, choose: Choose = usual_mechanism) -> Survey:
    """A survey from its TOML text; `choose` answers `mechanism = "auto"`, which is also what leaving it out means.

    >>> survey_from_toml('''
    ... title = "Commuting"
    ... purpose = "To plan bus lines."
    ... epsilon = 1
    ... budget = 1
    ... [attributes.commute]
    ... question = "How did you get to work today?"
    ... domain = "categories:bike,bus,car,walk"
    ... ''').mechanism
    KaryRandomizedResponse(domain=Categories(['bike', 'bus', 'car', 'walk']), epsilon=1)
    """
    surveys = surveys_from_toml(text, choose=choose)
    if "" not in surveys:
        raise InvalidParameter("the survey has groups, and each group is a survey of its own: surveys_from_toml gives all of them")
    return surveys[""]


def surveys_from_toml(text: str, *, choose: Choose = usual_mechanism) -> dict[str, Survey]:
    """One survey for each of the file's `groups`, by its name; without groups, the one survey, under an empty name.

    A group's survey differs in title and purpose only. A person answers the survey of their own group, so the group is public, and
    the answer has the whole epsilon.

    >>> surveys = surveys_from_toml('''
    ... title = "Commuting"
    ... purpose = "To plan bus lines."
    ... epsilon = 1
    ... groups = ["north", "south"]
    ... [attributes.commute]
    ... question = "How did you get to work today?"
    ... domain = "categories:bike,bus,car,walk"
    ... ''')
    >>> {name: survey.title for name, survey in surveys.items()}
    {'north': 'Commuting: north', 'south': 'Commuting: south'}
    """
    try:
        written = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"the survey is not TOML: {error}") from None
    _check_keys("the survey", written, _SURVEY, {"title", "purpose", "epsilon", "attributes"})
    groups = _groups(written)
    survey = _compiled(written, -(-_respondents(written) // max(1, len(groups))), choose)
    if not groups:
        return {"": survey}
    return {
        group: replace(survey, title=f"{survey.title}: {group}", purpose=f"{survey.purpose} {GROUP_WORDS.format(group=group)}")
        for group in groups
    }


def _groups(written: dict[str, Any]) -> list[str]:
    groups = written.get("groups")
    if groups is None:
        return []
    named = isinstance(groups, list) and all(
        isinstance(group, str) and group == group.strip() and group.isprintable() and 1 <= len(group) <= MOST_GROUP_TEXT
        for group in groups
    )
    if not named or not 2 <= len(groups) <= MOST_GROUPS or len(set(groups)) != len(groups):
        raise InvalidParameter(f"groups must be 2 to {MOST_GROUPS} different names, each of at most {MOST_GROUP_TEXT} characters")
    return list(groups)


def _compiled(written: dict[str, Any], respondents: int, choose: Choose) -> Survey:
    attributes = written["attributes"]
    if not isinstance(attributes, dict) or not attributes:
        raise InvalidParameter("attributes must be tables such as [attributes.age]")
    for name, attribute in attributes.items():
        if not isinstance(attribute, dict):
            raise InvalidParameter(f"attributes.{name} must be a table")
        _check_keys(f"attributes.{name}", attribute, _ATTRIBUTE, {"question", "domain"})
    epsilon = Epsilon(written["epsilon"])
    fields = {name: name for name in ("repeat", "window", "keep_reports", "release", "admission", "shuffle") if name in written}
    return Survey(
        title=written["title"],
        purpose=written["purpose"],
        attributes=tuple(Attribute(name, attribute["question"]) for name, attribute in attributes.items()),
        mechanism=_mechanism(written, epsilon, respondents, choose),
        budget=written.get("budget", epsilon.exact),
        opens=_day("opens", written),
        closes=_day("closes", written),
        **{name: written[name] for name in fields},
    )


def _mechanism(written: dict[str, Any], epsilon: Epsilon, respondents: int, choose: Choose) -> Mechanism:
    repeat, window = written.get("repeat", "once"), written.get("window", "survey")
    opens, closes = _day("opens", written), _day("closes", written)
    checked_date("opens", opens)
    checked_date("closes", closes)
    stream = changes_of(repeat, window, opens, closes, epsilon)
    if stream is not None:
        choose = partial(_of_changes, stream)
    return _whole_mechanism(written["attributes"], epsilon, written.get("strategy"), respondents, choose)


def _of_changes(stream: TreeOfChanges, asked: Asked) -> Mechanism:
    """There is one way to report changes, whatever is planned."""
    if asked.domain != Binary():
        raise InvalidParameter(f"attributes.{asked.name}.domain must be binary: repeat = 'changes:…' asks for one yes or no")
    return mechanism_for(stream)


def _respondents(written: dict[str, Any]) -> int:
    respondents = written.get("respondents", USUAL_RESPONDENTS)
    if isinstance(respondents, bool) or not isinstance(respondents, int) or not 1 <= respondents <= MOST_RESPONDENTS:
        raise InvalidParameter("respondents must be the number of people you expect: a whole number of at least 1")
    return respondents


def _whole_mechanism(attributes: dict[str, Any], epsilon: Epsilon, strategy: object, people: int, choose: Choose) -> Mechanism:
    domains = {name: _domain(name, attribute["domain"]) for name, attribute in attributes.items()}
    if strategy is not None and strategy not in STRATEGIES:
        raise InvalidParameter(f"strategy must be one of {', '.join(STRATEGIES)}")
    levels = _levels(attributes, epsilon, str(strategy))
    if len(domains) == 1 and strategy is None:
        (name,) = domains
        return _part(Asked(name, domains[name], levels[name], people), attributes[name], choose)
    strategy = strategy or "sample-one"
    if strategy == "fake-data":
        named = [name for name, attribute in attributes.items() if attribute.get("mechanism", "auto") != "auto"]
        if named:
            raise InvalidParameter(f"attributes.{named[0]}.mechanism: the strategy 'fake-data' brings its own mechanism")
        return RandomSamplingPlusFakeData(domain=Record(domains), epsilon=epsilon)
    # Where one attribute is picked, each is answered by a part of the people.
    answers = -(-people // len(domains)) if strategy == "sample-one" else people
    parts = {name: _part(Asked(name, domains[name], levels[name], answers), attributes[name], choose) for name in domains}
    combined = ProductMechanism if strategy == "split" else SampleOne
    return combined(domain=Record(domains), epsilon=epsilon, parts=parts)


def _levels(attributes: dict[str, Any], epsilon: Epsilon, strategy: str) -> dict[str, Epsilon]:
    """The whole epsilon for the one that is picked, or a part of it for everyone."""
    given = [name for name, attribute in attributes.items() if "epsilon" in attribute]
    if strategy != "split":
        if given:
            raise InvalidParameter(f"attributes.{given[0]}.epsilon: only the strategy 'split' gives attributes their own epsilon")
        return dict.fromkeys(attributes, epsilon)
    if not given:
        return dict.fromkeys(attributes, epsilon.times(Fraction(1, len(attributes))))
    if len(given) < len(attributes):
        raise InvalidParameter("with the strategy 'split', either every attribute has an epsilon or none has")
    return {name: Epsilon(attribute["epsilon"]) for name, attribute in attributes.items()}


def _part(asked: Asked, attribute: dict[str, Any], choose: Choose) -> Mechanism:
    name, wanted, learn = asked.name, attribute.get("mechanism", "auto"), attribute.get("learn")
    if not isinstance(wanted, str):
        raise InvalidParameter(f"attributes.{name}.mechanism must be a name or 'auto'")
    if learn is not None and (learn not in LEARN or not isinstance(asked.domain, Interval | KeyValue) or wanted != "auto"):
        raise InvalidParameter(
            f"attributes.{name}.learn must be {' or '.join(LEARN)}, for an interval or keys with numbers whose mechanism is 'auto'"
        )
    answers = attribute.get("answers")
    if answers is not None:
        if not isinstance(answers, list) or len(answers) != 1 or wanted != "auto" or not _askable(answers[0], asked.domain):
            raise InvalidParameter(
                f"attributes.{name}.answers must be a list with one of {', '.join(ANSWERS)}, for categories with mechanism 'auto', "
                "or with marginals:K, for a record of at least K yes-or-no answers and categories: write them as one attribute, "
                'domain = \'{"smokes": "binary", "city": "categories:5"}\''
            )
        answers = answers[0]
    parameters = attribute.get("parameters", {})
    if wanted == "auto" and parameters:
        raise InvalidParameter(f"attributes.{name}.parameters need a mechanism that is named; 'auto' chooses its own")
    chosen = choose(replace(asked, learn=learn, answers=answers)) if wanted == "auto" else wanted
    if isinstance(chosen, Mechanism):
        return chosen
    try:
        mechanism: Mechanism = make_mechanism(chosen, domain=asked.domain, epsilon=asked.epsilon, **parameters)
    except TypeError:
        raise InvalidParameter(f"attributes.{name}: {chosen} has other parameters than these") from None
    return mechanism


def _askable(answers: object, domain: Domain) -> bool:
    """Ordered categories have ranges; records of categories have tables of K fields."""
    if isinstance(domain, Categories):
        return answers in ANSWERS
    fields = list(domain.fields.values()) if isinstance(domain, Record) else []
    ways = answers.removeprefix(TABLES) if isinstance(answers, str) and answers.startswith(TABLES) else ""
    listed = all(isinstance(field, Binary | Categories) for field in fields)
    return listed and ways.isdecimal() and len(ways) < 4 and 1 <= int(ways) <= len(fields)


def _domain(name: str, written: object) -> Domain:
    if isinstance(written, str):
        return parse_domain(written)
    if isinstance(written, dict):
        return domain_from_recipe(written)
    raise InvalidParameter(f'attributes.{name}.domain must be text such as "interval:0,100" or a table')


def _day(name: str, written: dict[str, Any]) -> str | None:
    value = written.get(name)
    return value.isoformat()[:10] if isinstance(value, date) else value


def _check_keys(where: str, written: dict[str, Any], known: set[str], needed: set[str]) -> None:
    missing, unknown = sorted(needed - set(written)), sorted(set(written) - known)
    strange = f"the unknown {'entry' if len(unknown) == 1 else 'entries'} {', '.join(unknown)[:100]}"
    if missing:
        line = "[attributes.NAME]" if missing[0] == "attributes" else f"{missing[0]} = …"
        raise InvalidParameter(f"{where} lacks {', '.join(missing)}{f' and has {strange}' if unknown else ''}; add a line {line}")
    if unknown:
        raise InvalidParameter(f"{where} has {strange}; known are {', '.join(sorted(known))}")
