"""Every registered mechanism passes the suite that is offered to authors of new ones."""

from __future__ import annotations

import pytest

from deniable.core import Mechanism, mechanism_class, names
from deniable.privacy import CHECKS, Check, Finding, assert_conforms, check_mechanism, run_check

# Made while collecting: a registered mechanism that cannot be imported, or that cannot build its examples, fails here.
EXAMPLES: list[tuple[str, Mechanism]] = [
    (f"{name}-{number}", example) for name in names() for number, example in enumerate(mechanism_class(name).examples())
]


@pytest.mark.parametrize("name", names())
def test_every_registered_name_has_examples_and_is_documented(name: str) -> None:
    found = mechanism_class(name)
    assert found.name == name
    assert len(list(found.examples())) >= 2
    assert all((found.family, found.source, found.__doc__))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "example",
    # One example of each mechanism in every run; all of them in `make test-all`.
    [pytest.param(example, id=label, marks=() if label.endswith("-0") else pytest.mark.slow) for label, example in EXAMPLES],
)
def test_example_passes(example: Mechanism, check: Check) -> None:
    finding = run_check(check, example)
    if finding.outcome == "skipped":
        pytest.skip(finding.message)
    assert finding.outcome == "passed", finding.message


def test_the_suite_says_how_every_check_went() -> None:
    example = next(iter(mechanism_class("k-rr").examples()))
    findings = check_mechanism(example)
    assert [finding.check for finding in findings] == [check.__name__ for check in CHECKS]
    assert all(finding.message for finding in findings if finding.outcome == "skipped")
    assert Finding("check_delta_covers_the_weights", "skipped", "a pure claim has no delta") in findings
    assert_conforms(example)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_check_is_skipped_by_everyone(check: Check) -> None:
    candidates = ["k-rr", "gaussian"]
    outcomes = {run_check(check, next(iter(mechanism_class(name).examples()))).outcome for name in candidates}
    assert "passed" in outcomes
