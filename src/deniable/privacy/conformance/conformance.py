"""One suite for every mechanism: what an author has to pass, and nothing else to write."""

from __future__ import annotations

from collections.abc import Callable

from deniable.core import Mechanism
from deniable.privacy.conformance import format_checks, law_checks, privacy_checks, secret_checks
from deniable.privacy.conformance.outcome import ConformanceFailure, Finding, Skip

Check = Callable[[Mechanism], Skip | None]

CHECKS: tuple[Check, ...] = (
    privacy_checks.check_certificate_holds,
    privacy_checks.check_ratio_is_exact,
    privacy_checks.check_sampled_ratios,
    privacy_checks.check_delta_covers_the_weights,
    privacy_checks.check_rows_sum_to_total,
    privacy_checks.check_reachable_outputs_are_the_same,
    law_checks.check_draws_are_exact,
    law_checks.check_scalar_draws_follow_the_law,
    law_checks.check_batch_draws_follow_the_law,
    law_checks.check_every_output_bit_is_randomised,
    format_checks.check_recipe_round_trip,
    format_checks.check_wire_round_trip,
    format_checks.check_wire_is_strict,
    format_checks.check_decoded_values_are_of_the_domain,
    format_checks.check_batch_encodes_alike,
    format_checks.check_batch_decodes_alike,
    format_checks.check_batch_refuses_values_outside,
    secret_checks.check_refuses_values_outside,
    secret_checks.check_errors_hide_the_value,
    secret_checks.check_randomizing_leaves_no_trace,
    secret_checks.check_reports_hold_the_output_only,
)
"""Every check takes a mechanism, raises ConformanceFailure, or returns None (passed) or a Skip with its reason."""


def check_mechanism(mechanism: Mechanism) -> list[Finding]:
    """Run every check and say how each went: passed, skipped (and why) or failed (and why).

    >>> from deniable.core import RandomizedResponse
    >>> [finding.check for finding in check_mechanism(RandomizedResponse(epsilon=1)) if finding.outcome == "failed"]
    []
    """
    return [run_check(check, mechanism) for check in CHECKS]


def run_check(check: Check, mechanism: Mechanism) -> Finding:
    """One check's outcome. An error inside a check is a failure too."""
    name = check.__name__
    try:
        skipped = check(mechanism)
    except ConformanceFailure as failure:
        return Finding(name, "failed", str(failure))
    except Exception as error:
        return Finding(name, "failed", f"{type(error).__name__}: {error}")
    return Finding(name, "passed") if skipped is None else Finding(name, "skipped", skipped.reason)


def assert_conforms(mechanism: Mechanism) -> None:
    """Raise ConformanceFailure with every failed check, or return."""
    failed = [finding for finding in check_mechanism(mechanism) if finding.outcome == "failed"]
    if failed:
        lines = "\n".join(f"  {finding.check}: {finding.message}" for finding in failed)
        raise ConformanceFailure(f"{mechanism!r} fails {len(failed)} checks:\n{lines}")
