"""Every registered mechanism has a proof page, and the inequality it states is the certificate's, number for number."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from tests.proofs.statements import PAGES, TooLarge, check, statements

from deniable.core import (
    Binary,
    Categories,
    Interval,
    Mechanism,
    ProductMechanism,
    Record,
    Rectangle,
    SampleOne,
    Trajectory,
    all_mechanisms,
    make_mechanism,
    mechanism_class,
)
from deniable.errors import InvalidParameter
from deniable.privacy import proof_page

EPSILONS = ("0.3", "1.7", "3")
RECORD = Record({"smokes": Binary(), "city": Categories(5)})
SMALL = Rectangle(Interval(0, 1, cells=2), Interval(0, 1, cells=2))
NUMBER = Interval(0, 1, cells=12)


def page_of(name: str) -> str:
    path = PAGES / f"{name}.md"
    assert path.exists(), f"run: make generated (it writes {path.name} if the law is known; a new law needs a page of its own)"
    return path.read_text(encoding="utf-8")


def composed(name: str, epsilon: str) -> Mechanism | None:
    """Mechanisms made of others have no epsilon that can simply be replaced."""
    if name == "product":
        return ProductMechanism.split(RECORD, epsilon)
    if name == "sample-one":
        return SampleOne.of(RECORD, epsilon)
    if name == "privacy-indicator":
        inner = make_mechanism("ogpm", domain=NUMBER, epsilon=epsilon)
        made: Mechanism = make_mechanism(
            name, domain=NUMBER, epsilon=epsilon, mechanism=inner, delta="0.001", publish_raw_values=True
        )
        return made
    if name == "trajectory":
        step = make_mechanism("nearest-cells", domain=SMALL, epsilon=epsilon)
        whole: Mechanism = make_mechanism(name, domain=Trajectory(SMALL, 2), epsilon=2 * step.privacy.exact, step=step)
        return whole
    return None


def instances(kind: type[Mechanism]) -> Iterator[Mechanism]:
    """The examples, and the first of them at other epsilons where its parameters allow it."""
    yield from kind.examples()
    for epsilon in EPSILONS:
        other = composed(kind.name, epsilon)
        if other is not None:
            yield other
            continue
        for example in islice(kind.examples(), 1):
            try:
                changed = dataclasses.replace(example, epsilon=epsilon)
                changed.channel  # noqa: B018  # some find out only when they are built
            except InvalidParameter:
                continue
            yield changed


@pytest.mark.parametrize("kind", all_mechanisms(), ids=lambda kind: kind.name)
def test_the_page_states_the_certificates_inequality(kind: type[Mechanism]) -> None:
    page, levels, checked = page_of(kind.name), set(), 0
    assert page.startswith(f"# {kind.name}\n")
    assert f"`{kind.__name__}`" in page or f"`{kind.__name__}(" in page
    for mechanism in instances(kind):
        try:
            check(page, mechanism)
        except TooLarge:
            continue
        checked += 1
        levels.add(mechanism.privacy.exact)
    assert checked >= 4
    assert len(levels) >= 3


@pytest.mark.parametrize("kind", all_mechanisms(), ids=lambda kind: kind.name)
def test_pages_have_a_statement_a_proof_and_a_source(kind: type[Mechanism]) -> None:
    page = page_of(kind.name)
    assert re.search(r"^\*\*Statement\.\*\*", page, re.MULTILINE)
    assert re.search(r"^\*\*[^*]*[Pp]roof", page, re.MULTILINE) or "**Why it can hold.**" in page
    assert "∎" in page
    assert re.search(r"^\*\*Source", page, re.MULTILINE)


@pytest.mark.parametrize("name", ["k-rr", "nearest-cells", "oue", "pieces", "bounded-laplace", "laplace"])
def test_generated_pages_state_the_certificates_inequality(name: str) -> None:
    page = proof_page(mechanism_class(name))
    planted = page.replace(" <= e^epsilon", " + 1 <= e^epsilon")
    for mechanism in islice(instances(mechanism_class(name)), 1):
        check(page, mechanism)
        with pytest.raises(AssertionError):
            check(planted, mechanism)


WRONG: list[tuple[str, str, str]] = [
    ("k-rr", "high / low", "low / high"),
    ("k-rr", "high / low", "(high + 1) / low"),
    ("k-rr", "floor(low * e^epsilon)", "floor(low * e^epsilon) + 1"),
    ("sue", "(own / other) ** 2", "own / other"),
    ("oue", "(scale - other) / other", "own / other"),
    ("oue", "own == scale / 2", "own == scale - other"),
    ("rappor", "own * (scale - other) / (other * (scale - own))", "(own / other) ** 2"),
    ("laplace", "max(column) / min(column)", "max(column) / max(column)"),
    ("product", "product(", "max("),
    ("sample-one", "max(", "product("),
    ("rs-fd", "part.high * part.size", "part.high"),
    ("tracs-d", "direction.high / direction.low * (distance.high / distance.low)", "direction.high / direction.low"),
    ("gaussian", "e_low * b", "b"),
    ("gaussian", "<= delta", "<= e^epsilon"),
    ("privacy-indicator", "shares[1] / sum(shares)", "shares[1] / shares[0]"),
    ("l-srr", "weights[0] / weights[-1]", "weights[0] / weights[1]"),
    ("hm", "e^epsilon", "e^(2 * epsilon)"),
]


@pytest.mark.parametrize(("name", "right", "wrong"), WRONG, ids=lambda text: text[:24])
def test_a_wrong_page_would_be_seen(name: str, right: str, wrong: str) -> None:
    page = page_of(name)
    stated = "\n".join(statements(page))
    assert right in stated
    planted = page.replace(stated, stated.replace(right, wrong))
    found: list[Any] = []
    for mechanism in mechanism_class(name).examples():
        check(page, mechanism)
        try:
            check(planted, mechanism)
        except AssertionError as seen:
            found.append(seen)
        if found:
            break
    assert found


def test_a_page_without_a_statement_would_be_seen() -> None:
    mechanism = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
    with pytest.raises(AssertionError, match="exactly one"):
        check("# k-rr\n\nIt is private, believe us.\n", mechanism)
    with pytest.raises(AssertionError, match="may not use"):
        check("```certificate\n__import__('os').getpid() <= e^epsilon\n```\n", mechanism)
