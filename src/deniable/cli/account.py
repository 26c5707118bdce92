"""`deniable account`: what several answers, repeated answers and a crowd make of epsilon."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from deniable.cli.account_training import training
from deniable.cli.choice import chosen_mechanism
from deniable.cli.effect import refuse_unused
from deniable.cli.survey_address import ca_option, survey_at
from deniable.cli.terminal import counted, print_json, waiting
from deniable.core import as_fraction, hiding, show_fraction
from deniable.errors import InvalidParameter

CROWD = "summing over the crowd (half a minute for a billion people)"


@click.group()
def account() -> None:
    """Work out what a person was promised in total.

    \b
    deniable account odds --epsilon 1
    deniable account compose --epsilon 0.1 --answers 100 --delta 1e-6
    deniable account repeat --epsilon 1 --reports 52 --permanent 3
    deniable account shuffle --epsilon 1 --users 1000000 --delta 1e-6
    deniable account central --epsilon 1 --users 1000000 --delta 1e-6
    deniable account group --epsilon 1 --size 3
    deniable account gaussian --epsilon 1 --delta 1e-6
    deniable account raw --delta 1e-6 --users 1000000
    deniable account training --domain ball:512 --users 100000 --lifetime 8 --target-error 0.1
    """


account.add_command(training)


@account.command()
@click.option("--epsilon", "-e", required=True, help="The privacy level of one report.")
@click.option("--delta", default="0", show_default=True, help="The probability with which the level may fail.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def odds(epsilon: str, delta: str, as_json: bool) -> None:
    """What a privacy level means, in plain words and as a bet."""
    from deniable.privacy import bits_learned, guess_right, in_words, posterior

    level, extra = _positive("epsilon", epsilon), _share("delta", delta)
    low, high = posterior(0.5, level)
    document = {"epsilon": level, "delta": extra, "belief_from_half": [low, high], "guess_right": guess_right(level, extra)}
    if level <= 100:
        document["bits"] = bits_learned(level)
    _say(document, in_words(level, extra), as_json)


@account.command()
@click.option("--epsilon", "-e", "epsilons", required=True, multiple=True, help="The level of an answer; may be repeated.")
@click.option("--answers", default=1, show_default=True, type=click.IntRange(1, 1_000_000), help="How many answers of each level.")
@click.option("--delta", default="1e-6", show_default=True, help="The probability with which the smaller epsilon may fail.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compose(epsilons: tuple[str, ...], answers: int, delta: str, as_json: bool) -> None:
    """What several answers of one person cost together."""
    from deniable.privacy import advanced_epsilon, basic, composed_epsilon, composed_exactly

    levels = [level for level in epsilons for _ in range(answers)]
    allowed = _share("delta", delta)
    total = basic(levels)
    document: dict[str, Any] = {"answers": len(levels), "basic": float(total), "delta": allowed}
    document["optimal"] = composed_epsilon(levels, allowed)
    one = len(levels) == 1
    lines = [
        f"{'1 answer costs' if one else f'{len(levels):,} answers together cost'} at most epsilon {show_fraction(total)}, always. "
        f"That leaves {'it' if one else 'them'} {hiding(total)}.",
        f"Except with probability {allowed:g} {'it costs' if one else 'they cost'} at most epsilon {document['optimal']:.6g}"
        + ("; for the worst mechanisms of these levels nothing smaller is true." if composed_exactly(levels) else ", rounded up."),
    ]
    if len(set(epsilons)) == 1 and allowed > 0 and not one:
        document["advanced"] = advanced_epsilon(epsilons[0], len(levels), allowed)
        lines.append(f"The textbook's advanced composition would say {document['advanced']:.6g}.")
    _say(document, lines, as_json)


@account.command()
@click.option("--epsilon", "-e", required=True, help="The level of one report.")
@click.option("--reports", required=True, type=click.IntRange(1, 10**9), help="How often the person is asked.")
@click.option(
    "--values",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="How many different true values the person has in that time.",
)
@click.option("--permanent", help="The level of the permanent layer, for mechanisms with two layers (rappor).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def repeat(epsilon: str, reports: int, values: int, permanent: str | None, as_json: bool) -> None:
    """What asking the same question again costs.

    Once with a fresh report every time, and once with a memo that repeats the first.
    """
    from deniable.privacy import repeated

    for name, text in (("epsilon", epsilon), ("permanent", permanent)):
        if text is not None:
            _positive(name, text)
    costs = repeated(epsilon, reports, values=values, permanent=permanent)
    document: dict[str, float | bool] = {"afresh": float(costs.afresh), "memo": float(costs.memo)}
    lines = [
        f"Drawn afresh every time: epsilon {show_fraction(costs.afresh)}; the value is then {hiding(costs.afresh)}.",
        f"The same report for the same value: epsilon {show_fraction(costs.memo)}, however often it is sent; {hiding(costs.memo)}.",
    ]
    if costs.two_layers is not None:
        document["two_layers"] = float(costs.two_layers)
        layered = f"epsilon {show_fraction(costs.two_layers)}; {hiding(costs.two_layers)}"
        lines.append(f"A permanent layer with fresh noise on it: {layered}.")
    if values > 1:
        document["hides_changes"] = False
        lines.append("What is kept does not hide when a value changes: its epsilon compares people who change at the same times.")
    _say(document, lines, as_json)


@account.command()
@click.option("--epsilon", "-e", required=True, help="The level of one report.")
@click.option("--users", "-n", "people", required=True, type=click.IntRange(1, 10**9), help="How many people answer.")
@click.option("--delta", default="1e-6", show_default=True, help="The probability with which the level may fail.")
@click.option("--mechanism", "-m", help="A mechanism by name: its own bound may be better than that of any mechanism.")
@click.option("--domain", "-d", help="The mechanism's domain, for example categories:10.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw epsilon over the number of people (.svg, .png, .html).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def shuffle(
    epsilon: str, people: int, delta: str, mechanism: str | None, domain: str | None, chart: str | None, as_json: bool
) -> None:
    """What shuffled reports promise: much more than each one alone."""
    from deniable.privacy import attained_epsilon, shuffled_epsilon, shuffling_conditions

    level, allowed = _positive("epsilon", epsilon), _share("delta", delta)
    if mechanism is None:
        refuse_unused("without a mechanism", "use it with --mechanism", "domain")
    chosen = None if mechanism is None else chosen_mechanism(mechanism, epsilon, domain, ())
    with waiting(CROWD):
        general = shuffled_epsilon(level, people, allowed)
    document: dict[str, Any] = {"epsilon_each": level, "people": people, "delta": allowed, "any_mechanism": general}
    lines = [
        f"{counted(people, 'shuffled report')}{'' if people == 1 else ', each'} of epsilon {level:g}: "
        f"({general:.4g}, {allowed:g})-private, whatever the mechanism."
    ]
    size = 3
    if chosen is not None:
        document["mechanism"] = chosen.name
        with waiting(CROWD):
            document["this_mechanism"] = shuffled_epsilon(chosen, people, allowed)
        lines.append(f"With {chosen.name}: ({document['this_mechanism']:.4g}, {allowed:g})-private.")
        size = max(chosen.domain.size, 2) if chosen.name == "k-rr" else 3
    document["attained"] = {"mechanism": f"k-rr with {size} values", "epsilon": attained_epsilon(size, level, people, allowed)}
    lines.append(
        f"{size}-ary randomized response actually reaches {document['attained']['epsilon']:.4g}: no bound for it can be smaller."
    )
    document["conditions"] = shuffling_conditions(people)
    lines += ["This holds only if:", *(f"- {condition}" for condition in document["conditions"])]
    if chart is not None:
        _draw(chart, level, allowed, people)
        document["chart"] = chart
        lines.append(f"Chart: {chart}")
    _say(document, lines, as_json)


@account.command("survey")
@click.argument("source", metavar="SURVEY")
@click.option("--delta", default="1e-6", show_default=True, help="The probability with which the level may fail.")
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def of_survey(source: str, delta: str, ca: str | None, as_json: bool) -> None:
    """What a survey promises as deployed.

    SURVEY is its address, or a file with its document.

    The number of people, the channel and how often a person answers are read from the document itself.
    """
    from deniable.privacy import shuffled_promise

    survey = survey_at(source, ca)
    promise = shuffled_promise(survey, _share("delta", delta))
    level = show_fraction(survey.mechanism.privacy.exact)
    document: dict[str, Any] = {"survey": survey.hash, "epsilon_each": level, "epsilon_for_life": show_fraction(survey.lifetime)}
    lines = [f"Against everyone, each report has epsilon {level}, and all reports of one person {show_fraction(survey.lifetime)}."]
    if promise is None:
        document["shuffled"] = None
        lines.append("Being one of many adds nothing to that: the document has no [shuffle], or shuffling does not help here.")
    else:
        document["shuffled"] = {
            "epsilon": promise.epsilon,
            "delta": promise.delta,
            "people": promise.people,
            "rounds": promise.rounds,
            "conditions": promise.conditions,
        }
        lines += [promise.words, "This holds only if:", *(f"- {condition}" for condition in promise.conditions)]
    _say(document, lines, as_json)


@account.command()
@click.option("--epsilon", "-e", required=True, help="The level of one report.")
@click.option("--users", "-n", "people", required=True, type=click.IntRange(1, 10**9), help="How many people answer.")
@click.option("--delta", default="1e-6", show_default=True, help="The probability with which the level may fail.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def central(epsilon: str, people: int, delta: str, as_json: bool) -> None:
    """What the reports of n people promise together.

    Beside it: how much noise a trusted collector would need.
    """
    from deniable.privacy import central as translated

    with waiting(CROWD):
        document = translated(_positive("epsilon", epsilon), people, _share("delta", delta))
    _say({"people": people, **asdict(document)}, document.words(people), as_json)


@account.command()
@click.option("--epsilon", "-e", required=True, help="The level of one person.")
@click.option("--size", required=True, type=click.IntRange(1, 10**6), help="People who belong together, or answers of one person.")
@click.option("--delta", default="0", show_default=True, help="The probability with which the level may fail.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def group(epsilon: str, size: int, delta: str, as_json: bool) -> None:
    """What a group is promised, such as a family.

    The same holds for one person who is counted several times.
    """
    from deniable.privacy import group as grouped
    from deniable.privacy import group_words

    level, extra = grouped(epsilon, size, delta)
    _say({"size": size, "epsilon": float(level), "delta": extra}, group_words(epsilon, size, delta), as_json)


@account.command()
@click.option("--epsilon", "-e", help="The level; with --delta, gives the noise that is needed.")
@click.option("--delta", help="With --sigma: the epsilon that holds.")
@click.option("--sigma", help="The noise, in the units of the value. With --epsilon: the delta.")
@click.option("--width", default="1", show_default=True, help="How far apart two values can be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def gaussian(epsilon: str | None, delta: str | None, sigma: str | None, width: str, as_json: bool) -> None:
    """Epsilon, delta or sigma of Gaussian noise, from the other two.

    The result is exact, and rounded so that it never promises too much.
    """
    from deniable.privacy import gaussian_delta, gaussian_epsilon, gaussian_sigma, loss_exceeds

    if sum(given is not None for given in (epsilon, delta, sigma)) != 2:
        raise InvalidParameter("give two of --epsilon, --delta and --sigma; the third is computed")
    apart = _positive("width", width)
    level = None if epsilon is None else _positive("epsilon", epsilon)
    extra = None if delta is None else _share("delta", delta)
    noise = None if sigma is None else _positive("sigma", sigma)
    if noise is None:
        assert level is not None
        assert extra is not None
        noise = gaussian_sigma(level, extra, apart)
    if level is None:
        assert extra is not None
        level = gaussian_epsilon(noise, extra, apart)
    extra = gaussian_delta(noise, level, apart) if extra is None else extra
    exceeds = loss_exceeds(noise, level, apart)
    document = {"epsilon": level, "delta": extra, "sigma": noise, "width": apart, "loss_exceeds_epsilon": exceeds}
    lines = [
        f"Normal noise of standard deviation {noise:.6g} on values at most {apart:g} apart: ({level:.6g}, {extra:.4g})-private.",
        f"With probability {exceeds:.4g} a report tells more than epsilon {level:.6g}; no epsilon holds with delta 0.",
        "This is the real-valued noise. Reports by `deniable` use integers: the gaussian mechanism's certificate is the promise.",
    ]
    _say(document, lines, as_json)


@account.command()
@click.option("--delta", required=True, help="How often a raw value is published.")
@click.option("--coordinates", default=1, show_default=True, type=click.IntRange(1, 10**6), help="Values of one person.")
@click.option(
    "--users",
    "-n",
    "people",
    default=1,
    show_default=True,
    type=click.IntRange(1, 10**9),
    help="How many people give their values.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def raw(delta: str, coordinates: int, people: int, as_json: bool) -> None:
    """What the privacy indicator publishes: raw values."""
    from deniable.privacy import indicator

    exposed = indicator(delta, coordinates=coordinates, people=people)
    document = {"delta": exposed.delta, "people_exposed": exposed.people, "anyone_exposed": exposed.anyone}
    lines = [
        f"One person's raw value is published with probability {exposed.delta:.4g}; delta is exactly that.",
        f"Expected to be exposed completely: {exposed.people:.4g} of {'1 person' if people == 1 else f'{people:,} people'}. "
        f"The probability that anyone is: {exposed.anyone:.4g}.",
    ]
    _say(document, lines, as_json)


def _draw(path: str, level: float, delta: float, people: int) -> None:
    from deniable.charts import amplification_chart, save
    from deniable.privacy import attained_epsilon, shuffled_epsilon

    sizes = sorted({max(1, round(people * 10 ** (-step / 4))) for step in range(17)})
    rows = [(n, shuffled_epsilon(level, n, delta), attained_epsilon(3, level, n, delta)) for n in sizes]
    save(amplification_chart(rows, level, delta), path)


def _positive(name: str, text: str) -> float:
    from deniable.privacy import HIGHEST

    number = as_fraction(text)
    if number is None or number <= 0:
        raise InvalidParameter(f"{name} must be a positive number")
    if number > HIGHEST:
        raise InvalidParameter(f"{name} must be at most {HIGHEST}: beyond that nothing is promised")
    return float(number)


def _share(name: str, text: str) -> float:
    number = as_fraction(text)
    if number is None or not 0 <= number < 1:
        raise InvalidParameter(f"{name} must be at least 0 and below 1")
    return float(number)


def _say(document: dict[str, Any], lines: list[str], as_json: bool) -> None:
    if as_json:
        print_json(document)
    else:
        click.echo("\n".join(lines))
