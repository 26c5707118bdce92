"""The committed vectors: what the scalar path, the batch path and other languages must reproduce, byte for byte."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.vectors import coin_vectors, vectors_text

from deniable.batch import Reports, accumulator_for
from deniable.core import (
    decode_report,
    decode_reports,
    domain_from_recipe,
    encode_report,
    mechanism_class,
    mechanism_from_recipe,
    names,
)
from deniable.errors import NotSupported
from deniable.privacy import ReplayCoins

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
REMAKE = "run: make generated"


@cache
def read(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def test_every_registered_mechanism_has_vectors_and_nothing_else_does() -> None:
    assert {path.stem for path in VECTORS.glob("*.json")} == {*names(), "coins", "domains", "streams"}, REMAKE


@pytest.mark.parametrize("name", names())
def test_vectors_are_what_this_release_makes(name: str) -> None:
    assert (VECTORS / f"{name}.json").read_text() == vectors_text(mechanism_class(name)), REMAKE


@pytest.mark.parametrize("name", names())
def test_replayed_coins_give_the_same_report(name: str) -> None:
    for example in read(name)["examples"]:
        mechanism = mechanism_from_recipe(example["mechanism"])
        assert mechanism.fingerprint == example["fingerprint"]
        for case in example["cases"]:
            coins = ReplayCoins(bytes.fromhex(case["coins"]))
            report = mechanism.randomize(case["value"], coins)
            assert (mechanism.encode(case["value"]), report.output, coins.left) == (case["index"], case["output"], 0)
            assert encode_report(mechanism, report).hex() == case["report"]
            assert decode_report(mechanism, bytes.fromhex(case["report"])) == report


@pytest.mark.parametrize("name", names())
def test_batch_decoding_and_sums_agree(name: str) -> None:
    for example in read(name)["examples"]:
        mechanism = mechanism_from_recipe(example["mechanism"])
        outputs, batch = [case["output"] for case in example["cases"]], bytes.fromhex(example["batch"])
        reports = Reports.from_bytes(mechanism, batch)
        assert reports.ints() == outputs
        assert [report.output for report in decode_reports(mechanism, batch)] == outputs
        if example["sums"] is None:
            with pytest.raises(NotSupported):
                accumulator_for(mechanism)
        else:
            assert accumulator_for(mechanism).add(reports).to_bytes().hex() == example["sums"]


def test_coins_are_read_by_the_same_rule() -> None:
    kept = read("coins")
    assert kept == coin_vectors(), REMAKE
    coins = ReplayCoins(bytes.fromhex(kept["bytes"]))
    assert [coins.below(n) for n in kept["bounds"]] == kept["answers"]


def test_values_become_the_same_indices() -> None:
    for item in read("domains")["domains"]:
        domain = domain_from_recipe(item["domain"])
        assert domain.size == item["size"]
        assert [domain.encode(value) for value, _ in item["cases"]] == [index for _, index in item["cases"]]
        assert len(item["cases"]) >= 2
