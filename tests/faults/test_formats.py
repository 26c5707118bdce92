"""Lenient readers and recipes that are not the mechanism are caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.faults.planted import Planted

from deniable import core
from deniable.core import KaryRandomizedResponse, Mechanism, Report
from deniable.privacy import CHECKS, check_mechanism, run_check


def _without_padding_check(mechanism: Mechanism, data: bytes) -> Report:
    """Clears the bits that no output of five categories uses before reading."""
    return true_decode(mechanism, data[:-1] + bytes([data[-1] & 0b111]))


def _any_length(mechanism: Mechanism, data: bytes) -> Report:
    sound = len(core.encode_report(mechanism, Report(mechanism.fingerprint, 0)))
    return true_decode(mechanism, data[:sound])


true_decode = core.decode_report


@pytest.mark.parametrize("decode", [_without_padding_check, _any_length])
def test_padding_and_trailing_bytes_that_are_not_checked_are_caught(
    decode: Callable[[Mechanism, bytes], Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "decode_report", decode)
    mechanism = Planted()
    found = {check.__name__: run_check(check, mechanism).outcome for check in CHECKS if "wire" in check.__name__}
    assert found == {"check_wire_round_trip": "passed", "check_wire_is_strict": "failed"}


class Forgetful(KaryRandomizedResponse):
    """Says one epsilon and writes another into its recipe."""

    def recipe(self) -> dict[str, Any]:
        return {**super().recipe(), "epsilon": "2"}


def test_a_recipe_that_is_not_the_mechanism_is_caught() -> None:
    finding = next(f for f in check_mechanism(Forgetful(epsilon=1)) if f.check == "check_recipe_round_trip")
    assert finding.outcome == "failed"
