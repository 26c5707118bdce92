"""`deniable audit`: is it as private as it says? Exit code 1 when it is not, 3 when there is no verdict."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.effect import refuse_unused
from deniable.cli.terminal import console, print_json
from deniable.core import mechanism_from_recipe, parse_json
from deniable.errors import InvalidParameter, Malformed, OutOfDomain, WireError

if TYPE_CHECKING:
    from deniable.privacy import Target

VIOLATED, NO_VERDICT = 1, 3
LARGEST = 1 << 26


@click.command(short_help="Test a privacy claim: a recipe exactly, any program by its output.")
@click.option("--recipe", metavar="FILE", help="A recipe, survey or compiled channel: checked exactly, by integers.")
@click.option(
    "--command", "program", metavar="COMMAND", help="A program that reads a value from standard input and prints a report."
)
@click.option("--python", "function", metavar="MODULE:FUNCTION", help="A Python function from value to report.")
@click.option("--url", help="A service that answers a POST of a JSON value with a report.")
@click.option(
    "--inputs", metavar="VALUES", help="Test values, separated by commas, or a JSON list: those that might be distinguishable."
)
@click.option("--epsilon", "-e", help="The claimed epsilon; by default the recipe's own.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claimed delta.")
@click.option("--samples", type=click.IntRange(400), help="Draws in total; 1,000,000 for functions, 20,000 otherwise.")
@click.option(
    "--level", "confidence", type=float, default=0.9999, show_default=True, help="Confidence required to report a violation."
)
@click.option("--lines", is_flag=True, help="The program takes one value per line and prints one report per line.")
@click.option("--vectorised", is_flag=True, help="The function takes an array of values and returns as many reports.")
@click.option("--timeout", type=float, default=10.0, show_default=True, help="Seconds before a program or service counts as hung.")
@click.option("--compiled-out", metavar="FILE", help="Write the recipe's compiled channel for the stand-alone verifier.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(
    recipe: str | None,
    program: str | None,
    function: str | None,
    url: str | None,
    inputs: str | None,
    epsilon: str | None,
    delta: float,
    samples: int | None,
    confidence: float,
    lines: bool,
    vectorised: bool,
    timeout: float,
    compiled_out: str | None,
    as_json: bool,
) -> None:
    """Try to disprove a privacy claim.

    A recipe's integers are checked by an independent verifier; with --samples its sampler is drawn from as well. Any other
    program is asked for reports of the test values, in random order; a search finds the worst pair and event, and fresh
    draws test them. Programs that hang, crash or print something else are reported; a missing report is an event like any other.

    The exit code is 0 when nothing was found, 1 for a violation, 2 when the command was wrong, and 3 for no verdict: too few
    reports came back, or they never repeat and no event showed a tenth of the claim.
    """
    if sum(source is not None for source in (recipe, program, function, url)) != 1:
        raise click.UsageError("give one of --recipe, --command, --python and --url")
    if program is None:
        refuse_unused("here", "use it with --command", "lines", *([] if url is not None else ["timeout"]))
    if function is None:
        refuse_unused("here", "use it with --python", "vectorised")
    if recipe is not None:
        refuse_unused("on --recipe, whose integers are checked", "use it with --command, --python or --url", "inputs", "delta")
        if samples is None:
            refuse_unused("on exact checks", "use it with --samples", "confidence")
        verdict = _of_recipe(recipe, epsilon, samples, confidence, compiled_out)
    else:
        if epsilon is None or inputs is None:
            raise click.UsageError("give the claim by --epsilon and the test values by --inputs")
        if compiled_out is not None:
            raise click.UsageError("--compiled-out needs --recipe")
        target = _target(program, function, url, lines, vectorised, timeout)
        usual = 1_000_000 if function is not None else 20_000
        verdict = _of_draws(target, parse_inputs(inputs), epsilon, delta, samples or usual, confidence)
    if as_json:
        print_json(verdict)
    else:
        out = console()
        for line in verdict["lines"]:
            out.print(line, markup=False, soft_wrap=True)
    code = VIOLATED if verdict["violated"] else NO_VERDICT if verdict["violated"] is None else 0
    click.get_current_context().exit(code)


def parse_inputs(text: str) -> list[Any]:
    """Values separated by commas, or a JSON list; numbers are numbers, everything else is text.

    >>> parse_inputs("0, 1,cat"), parse_inputs('[[0, 1], [1, 0]]')
    ([0, 1, 'cat'], [[0, 1], [1, 0]])
    """
    if text.lstrip().startswith("["):
        try:
            values = json.loads(text)
        except ValueError:
            raise InvalidParameter("inputs must be values separated by commas, or a JSON list of them") from None
        return list(values)
    return [_value(part.strip()) for part in text.split(",") if part.strip()]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _target(program: str | None, function: str | None, url: str | None, lines: bool, vectorised: bool, timeout: float) -> Target:
    from deniable.privacy import Command, HttpClient, Scalar, Vectorised

    if program is not None:
        return Command(program, lines=lines, timeout=timeout)
    if url is not None:
        return HttpClient(url, timeout=timeout)
    assert function is not None
    module, _, name = function.partition(":")
    sys.path.insert(0, "")  # modules beside the user
    try:
        called = importlib.import_module(module)
        for part in name.split("."):
            called = getattr(called, part)
    except (ImportError, AttributeError, ValueError):
        raise click.UsageError("--python must name a function as MODULE:FUNCTION that can be imported from here") from None
    except (Exception, SystemExit) as error:  # whatever somebody else's module does when it is imported
        raise click.UsageError(f"--python: importing the module raised {type(error).__name__}; fix it first") from None
    finally:
        sys.path.remove("")
    if not callable(called):
        raise click.UsageError("--python must name a function")
    return Vectorised(called) if vectorised else Scalar(called)


def _of_draws(target: Target, inputs: list[Any], epsilon: str, delta: float, samples: int, confidence: float) -> dict[str, Any]:
    from deniable.privacy import audit as sampled_audit
    from deniable.privacy import independence_test

    result = sampled_audit(target, inputs, epsilon=epsilon, delta=delta, samples=samples, confidence=confidence)
    told = _pair(result.to_dict()) if result.violated is not None else []
    lines = [result.words, *told, *_failures(result.failures), *result.warnings, *result.limits]
    document: dict[str, Any] = {**result.to_dict(), "sampled": result.to_dict(), "independence": None}
    if result.pair is not None:
        lines += [result.power] if result.violated is False else []
        dependence = independence_test(target, inputs, samples=min(samples // 4, 200_000))
        document["independence"] = {
            "found": dependence.found,
            "where": dependence.where,
            "correlation": dependence.correlation,
            "chance": dependence.chance,
            "words": dependence.words,
        }
        lines.append(dependence.words)
        if dependence.found:
            document |= {"violated": True, "verdict": "violated"}
    return {**document, "lines": lines}


def _pair(document: dict[str, Any]) -> list[str]:
    if document["pair"] is None:
        return []
    (a, b), (n, m) = document["hits"], document["trials"]
    first, second = document["pair"]
    return [f"test values {first!r} and {second!r}, {document['event']}: {a:,} of {n:,} reports against {b:,} of {m:,}"]


def _failures(failures: dict[str, int]) -> list[str]:
    return [f"not counted: {count:,} times it {what}" for what, count in failures.items()]


def _of_recipe(path: str, epsilon: str | None, samples: int | None, confidence: float, compiled_out: str | None) -> dict[str, Any]:
    from deniable.core import Epsilon
    from deniable.privacy import verify  # integers only: no arrays are needed for this

    try:
        document = compiled_document(path)
        if compiled_out is not None:
            Path(compiled_out).write_text(json.dumps(document) + "\n", encoding="utf-8")
    except OSError as error:  # not left to others: exit code 1 would say that the promise is broken
        raise click.UsageError(f"{error.filename or path}: {error.strerror or 'cannot be used'}") from None
    except (WireError, OutOfDomain) as error:
        served = "; a survey's document is at the address that `deniable serve` prints" if path.endswith(".toml") else ""
        raise click.UsageError(f"--recipe: {error}{served}") from None
    claim = None if epsilon is None else Epsilon(epsilon, allow_large=True).exact
    verdict = verify(document, claim)
    word = {True: "holds", False: "DOES NOT HOLD", None: "not judged"}[verdict.holds]
    audited: dict[str, Any] = {
        "violated": None if verdict.holds is None else not verdict.holds,
        "verdict": word,
        "exact": {
            "holds": verdict.holds,
            "ratio": None if verdict.ratio is None else str(verdict.ratio),
            "delta": float(verdict.delta),
            "reason": verdict.reason,
        },
        "sampled": None,
        "compiled_out": compiled_out,
        "lines": [f"{word}: {verdict.reason}"],
    }
    if samples is not None:
        from deniable.privacy import audit_mechanism

        mechanism = mechanism_from_recipe(document["recipe"], allow_large=True)
        result = audit_mechanism(mechanism, samples=samples, confidence=confidence)
        audited["sampled"] = result.to_dict()
        audited["lines"] += [result.words, *([result.power] if result.violated is False else [])]
        both = (audited["violated"], result.violated)
        audited["violated"] = True if True in both else None if None in both else False
    return audited


def compiled_document(path: str) -> dict[str, Any]:
    """Recipe, compiled channel and fingerprint of a file: as they stand in it, or compiled from its recipe."""
    with open(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Malformed(f"{Path(path).name} is too large to be a recipe")
    document = parse_json(data)
    if not isinstance(document, dict):
        raise Malformed(f"{Path(path).name} holds no recipe")
    if "channel" in document:  # a survey, or what --compiled-out wrote: the integers are judged as they stand
        recipe = document.get("recipe", document.get("mechanism", {}))
        return {"recipe": recipe, "channel": document["channel"], "fingerprint": document.get("fingerprint")}
    mechanism = mechanism_from_recipe(document.get("recipe", document), allow_large=True)
    stated = document.get("fingerprint", mechanism.fingerprint)
    return {"recipe": mechanism.recipe(), "channel": mechanism.channel.compiled(), "fingerprint": stated}
