"""`deniable disclose`: one page that whoever runs a survey publishes about its privacy, for people and for programs."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import click

from deniable.cli.survey_address import ca_option, survey_at
from deniable.cli.terminal import print_json
from deniable.cli.whole_files import write_whole
from deniable.core import (
    Binary,
    Bins,
    Categories,
    Circle,
    Domain,
    Interval,
    ItemSet,
    KeyValue,
    Rectangle,
    Text,
    Whole,
    meaning,
    show_fraction,
)
from deniable.surveys import Survey, repeat_words


@click.command(short_help="Write a page about a survey's privacy, for publication.")
@click.argument("source", metavar="SURVEY")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), metavar="FILE.html", help="Write a page; by default JSON is printed."
)
@click.option("--steward", default="", help="Who runs the survey and answers questions about it.")
@ca_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def disclose(source: str, output: str | None, steward: str, ca: str | None, as_json: bool) -> None:
    """Say what SURVEY collects and how private that is. SURVEY is its address, its collector's, or a file with its document.

    The fields follow what NIST SP 800-226 asks of a differential privacy guarantee and what public registries of deployments list:
    the unit of privacy, the trust model, epsilon and delta, the mechanism, who sees what. Every number is read off the survey's own
    integers and can be checked again by anyone.
    """
    survey = survey_at(source, ca)
    facts = disclosure(survey, steward)
    if output is not None:
        write_whole(Path(output), page(facts).encode())
    if as_json or output is None:
        print_json(facts)
    else:
        click.echo(f"{output}: {survey.title}, epsilon {facts['epsilon_per_answer']} for each answer")


def answer_words(domain: Domain) -> str:
    """What one may answer, for people who know no Python.

    >>> answer_words(Categories(["bike", "bus"])), answer_words(Interval(0, 60)), answer_words(ItemSet(["a", "b", "c"], at_most=2))
    ('bike, bus', 'a number from 0 to 60', 'at most 2 of a, b, c')
    >>> answer_words(Circle(24, cells=48)), answer_words(KeyValue(["food", "books"], Interval(0, 200), at_most=1))
    ('a time of day', 'a number from 0 to 200 for at most 1 of food, books')
    """
    if isinstance(domain, Binary):
        return "yes or no"
    if isinstance(domain, Bins):
        ends = domain.labels[0].partition(" to ")[0], domain.labels[-1].partition(" to ")[2]
        return f"in which of {domain.size} bins a number from {ends[0]} to {ends[1]} lies"
    if isinstance(domain, Categories) and domain.labels is not None:
        return ", ".join(domain.labels)
    if isinstance(domain, Interval):
        return f"a number from {show_fraction(domain.low)} to {show_fraction(domain.high)}"
    if isinstance(domain, ItemSet):
        return f"at most {domain.at_most} of {answer_words(domain.items)}"
    if isinstance(domain, Circle):
        return "a time of day" if domain.period == 24 else f"a direction from 0 to {float(domain.period):.6g}"
    if isinstance(domain, KeyValue):
        return f"{answer_words(domain.values)} for at most {domain.at_most} of {answer_words(domain.keys.items)}"
    if isinstance(domain, Rectangle):
        return f"a place: {answer_words(domain.x)}, and {answer_words(domain.y)}"
    if isinstance(domain, Text):
        return f"a text of at most {domain.length} bytes"
    if isinstance(domain, Whole):
        return f"a whole number below {domain.size:,}"
    return str(domain)


def disclosure(survey: Survey, steward: str = "") -> dict[str, Any]:
    """Everything the page says, as JSON values."""
    certificate = survey.mechanism.certificate()
    answers = survey.lifetime // survey.price
    return {
        "title": survey.title,
        "purpose": survey.purpose,
        "steward": steward,
        "survey_hash": survey.hash,
        "questions": [
            {
                "question": attribute.question,
                "answers": answer_words(survey.parts[attribute.name].domain),
                "mechanism": survey.parts[attribute.name].name,
            }
            for attribute in survey.attributes
        ],
        "trust_model": "local: answers are randomized on the device of the person who gives them, before anybody else sees them",
        "privacy_definition": "pure epsilon-local differential privacy",
        "unit_of_privacy": "one person's whole answer to all questions, whatever it is",
        "epsilon_per_answer": show_fraction(survey.mechanism.privacy.exact),
        "delta": "0",
        "epsilon_per_person_for_life": show_fraction(survey.lifetime),
        "answers_per_person": int(answers),
        "what_it_means": meaning(survey.mechanism.privacy.exact),
        "how_often": repeat_words(survey.repeat, survey.window),
        "open": {"from": survey.opens, "to": survey.closes},
        "release_policy": survey.release_words,
        **_among_many(survey),
        "single_reports_are_kept": survey.keep_reports,
        "who_sees_what": {
            "everyone": "estimates with 95 % intervals, as the release policy says",
            "whoever runs the collector": "every randomized report when it arrives, and meanwhile the address it comes from"
            if survey.shuffle is None
            else "randomized reports in random order, many at once; no address and no time of any of them",
            "nobody": "an answer that was not randomized",
        },
        "stored": "sums of reports, and a random key for every report that was counted; no address, no time finer than a window"
        + (", and the single randomized reports" if survey.keep_reports else ""),
        "certificate": {
            "mechanism": certificate.mechanism,
            "fingerprint": certificate.fingerprint,
            "holds": certificate.holds,
            "inequality": certificate.inequality if len(certificate.inequality) <= 300 else f"{certificate.inequality[:300]} …",
        },
        "check_it_again": "deniable audit --recipe survey.json",
    }


def _among_many(survey: Survey) -> dict[str, Any]:
    """Who is admitted, and the central number with its conditions, where the document says how reports are mixed."""
    facts: dict[str, Any] = {}
    if survey.admission is not None:
        facts["admission"] = survey.admission.words
    if survey.shuffle is not None:
        from deniable.privacy import shuffled_promise

        facts["mixing"] = survey.shuffle.words
        promise = shuffled_promise(survey)
        if promise is not None:
            facts["central_privacy"] = promise.words
            facts["central_privacy_holds_only_if"] = promise.conditions
    return facts


def page(facts: dict[str, Any]) -> str:
    """The same as one page without scripts."""
    rows = "\n".join(
        f"<tr><th>{escape(_words(name))}</th><td>{_cell(value)}</td></tr>"
        for name, value in facts.items()
        if value != "" and name != "title"
    )
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>{escape(facts["title"])}: privacy</title>
<style>
body {{ font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }}
th {{ text-align: left; vertical-align: top; padding: 0.4rem 1.5rem 0.4rem 0; width: 12rem; font-weight: 600 }}
td {{ vertical-align: top; padding: 0.4rem 0 }}
ul {{ margin: 0; padding-left: 1.2rem }}
li > ul {{ list-style: none; padding-left: 0; margin-bottom: 0.6rem }}
@media (max-width: 34rem) {{ tr, th, td {{ display: block; width: auto }} th {{ padding-bottom: 0 }} td {{ padding-top: 0 }} }}
</style>
<h1>{escape(facts["title"])}</h1>
<p>What is collected, and how private it is.</p>
<table>
{rows}
</table>
</html>
"""


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return f"<ul>{''.join(f'<li>{_cell(one)}</li>' for one in value)}</ul>"
    if isinstance(value, dict):
        inside = (f"<li>{escape(_words(name))}: {_cell(one)}</li>" for name, one in value.items() if one is not None)
        return f"<ul>{''.join(inside)}</ul>" if any(one is not None for one in value.values()) else "always"
    return escape(str(value))
