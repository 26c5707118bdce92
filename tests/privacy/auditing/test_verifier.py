"""The verifier stands alone, agrees with every certificate, and refuses what it cannot judge."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.core import Mechanism, exp_bounds, make_mechanism, mechanism_class, names
from deniable.privacy.auditing import verifier

BOUND_ONLY = {"designed", "trajectory"}
"""Here the verifier's ratio may be larger than the certificate's: a bound that the smallest lattices do not attain."""


def document(mechanism: Mechanism) -> dict[str, Any]:
    made = {"recipe": mechanism.recipe(), "channel": mechanism.channel.compiled(), "fingerprint": mechanism.fingerprint}
    read: dict[str, Any] = json.loads(json.dumps(made))
    return read


@pytest.mark.parametrize("name", names())
def test_it_agrees_with_every_certificate(name: str) -> None:
    for mechanism in mechanism_class(name).examples():
        verdict, certificate = verifier.verify(document(mechanism)), mechanism.certificate()
        assert verdict.holds, verdict.reason
        if mechanism.promise is not None:
            assert certificate.pair is not None
            assert verdict.ratio is not None
            assert certificate.pair.ratio is not None
            assert verdict.ratio >= certificate.pair.ratio  # over all promised pairs; the certificate has the nearest to its level
        elif certificate.ratio is None:
            assert verdict.ratio is None
            assert verdict.delta == certificate.delta_exact
        elif certificate.delta == 0:
            assert verdict.ratio is not None
            assert verdict.ratio >= certificate.ratio
            assert verdict.ratio == certificate.ratio or name in BOUND_ONLY


@pytest.mark.parametrize("name", names())
def test_a_smaller_claim_is_not_passed(name: str) -> None:
    """At nine tenths of the ratio's own logarithm nothing may pass; bounds that need not be attained give no verdict."""
    mechanism = next(iter(mechanism_class(name).examples()))
    certificate = mechanism.certificate()
    if certificate.ratio is None or certificate.delta:
        verdict = verifier.verify({**document(mechanism), "fingerprint": None}, Fraction(1, 1000))
        assert not verdict.holds
        return
    claim = Fraction(certificate.epsilon_exact) * Fraction(9, 10)
    assert not verifier.verify(document(mechanism), claim).holds


def test_it_imports_the_standard_library_only() -> None:
    tree = ast.parse(Path(verifier.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_it_runs_alone(tmp_path: Path) -> None:
    good = document(make_mechanism("oue", epsilon=1))
    bad = {**good, "recipe": {**good["recipe"], "epsilon": "9/10"}, "fingerprint": None}
    paths = []
    for name, content in (("good", good), ("bad", bad), ("odd", {**good, "channel": {"kind": "new"}, "fingerprint": None})):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(content), encoding="utf-8")
    copy = tmp_path / "alone.py"
    copy.write_text(Path(verifier.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    for place, (code, word) in enumerate([(0, "holds"), (1, "DOES NOT HOLD"), (2, "unknown")]):
        done = subprocess.run([sys.executable, "-I", str(copy), str(paths[place])], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert word in done.stdout


@pytest.mark.parametrize("exponent", ["1/1000000", "1/2", "1", "3602879701896397/36028797018963968", "20", "99"])
def test_its_exponential_agrees_with_the_packages(exponent: str) -> None:
    x = Fraction(exponent)
    low, high = verifier.exp_bounds(x, 400)
    other_low, other_high = exp_bounds(x, 128)
    assert low <= other_high
    assert other_low <= high
    assert high - low <= high / 10**30
    assert float(low) == pytest.approx(math.exp(x), rel=1e-14)


def test_one_unit_too_much_is_seen() -> None:
    recipe = make_mechanism("k-rr", epsilon=1)
    made = document(recipe)
    made["channel"]["high"] += 1
    assert "fingerprint" in verifier.verify(made).reason
    made["fingerprint"] = None
    assert verifier.verify(made).holds is False


@pytest.mark.parametrize(
    ("channel", "holds"),
    [
        ({"kind": "table", "rows": [[3, 1], [2, 2]]}, True),
        ({"kind": "table", "rows": [[3, 1], [2, 1]]}, False),
        ({"kind": "table", "rows": [[3, 0], [2, 1]]}, False),
        ({"kind": "table", "rows": [[2.0, 1], [2, 1]]}, False),
        ({"kind": "table", "rows": [[3, -1], [1, 1]]}, False),
        ({"kind": "identity", "size": 2}, False),
        ({"kind": "bits", "size": 4, "own": 2, "other": 1, "scale": 4}, False),
        ({"kind": "bits", "size": 4, "own": 4, "other": 4, "scale": 8}, True),
        ({"kind": "two-level", "low": 1, "high": 2, "set": "singleton", "size": 3}, True),
        ({"kind": "two-level", "low": 0, "high": 2, "set": "singleton", "size": 3}, False),
        ({"kind": "two-level", "low": 1, "high": 2, "set": "new", "size": 3}, None),
        ({"kind": "two-level", "low": 1, "high": 2, "set": "projective", "size": 3, "prime": 4, "dimension": 3}, False),
        ({"kind": "two-level", "low": 1, "high": 2, "set": "sectors", "cells": 7, "sectors": 2}, False),
        ({"kind": "nested", "cells": 7, "widths": [3, 1], "weights": [2, 2, 1]}, False),
        ({"kind": "pair", "both": 3, "one": 1, "neither": 0}, False),
        ({"kind": "chain", "first": {"kind": "identity", "size": 2}, "second": {"kind": "table", "rows": [[3, 1], [2, 2]]}}, True),
        ({"kind": "steps", "length": 2, "step": {"kind": "table", "rows": [[3, 1], [2, 2]]}}, False),
        ({"kind": "product", "parts": []}, False),
        ({"kind": "mixture", "shares": [1], "parts": []}, False),
        ({"kind": ["list"]}, False),
        ([], False),
        (None, False),
    ],
)
def test_hand_made_channels(channel: Any, holds: bool | None) -> None:
    assert verifier.verify({"recipe": {"epsilon": "1", "parameters": {}}, "channel": channel}).holds is holds


def brute_profile(channel: dict[str, Any]) -> Fraction | None:
    """Every weight of a clipped profile, written out."""
    outputs = channel["inputs"] + 2 * channel["margin"]
    rows = []
    for x in range(channel["inputs"]):
        row = [0] * outputs
        for place, weight in enumerate(channel["weights"]):
            row[min(max(x + channel["margin"] + channel["first"] + place, 0), outputs - 1)] += weight
        rows.append(row)
    return verifier.largest_ratio({"kind": "table", "rows": rows})


@pytest.mark.parametrize(
    ("inputs", "margin", "extra"), [(1, 0, 2), (2, 0, 0), (2, 1, 1), (3, 0, 2), (3, 2, 0), (5, 1, 3), (4, 3, 0)]
)
def test_profiles_are_judged_as_if_written_out(inputs: int, margin: int, extra: int) -> None:
    reach = inputs - 1 + margin + extra
    weights = [1 + (7 * place * place + 3 * place) % 11 for place in range(2 * reach + 1)]
    channel = {"kind": "profile", "weights": weights, "first": -reach, "inputs": inputs, "margin": margin, "wrap": False}
    assert verifier.largest_ratio(channel) == brute_profile(channel)
