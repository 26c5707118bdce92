"""Extremal mechanisms: the best there is, by a bound over all patterns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Categories, Extremal, mechanism_from_recipe
from deniable.errors import InvalidParameter
from deniable.planning import Divergence, Hypotheses, extremal_design, measured, regimes, sample_size
from deniable.planning.designs.column_generation import all_patterns, solve_program
from deniable.planning.designs.divergences import NAMED, as_divergence
from deniable.planning.designs.extremal import marginals
from deniable.planning.designs.partitions import best_partition, block_value
from deniable.planning.designs.pricing import parts, price
from deniable.privacy import assert_conforms

GOLDEN: list[dict[str, Any]] = [
    row
    for row in json.loads((Path(__file__).parents[2] / "golden" / "golden.json").read_text())
    if row["id"].startswith("kairouz.") and "thresholds" not in row["id"]
]
A = ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
C = ([0.05, 0.1, 0.15, 0.2, 0.25, 0.25], [0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
FUNCTIONS: dict[str, Any] = {
    "fourth power": lambda t: (t - 1) ** 4,
    "two kinks": lambda t: max(t - 1.3, 0.0) + max(0.7 - t, 0.0),
    "reverse kl": lambda t: -math.log(t),
}


def pairs(count: int, sizes: tuple[int, int], *, rng: np.random.Generator) -> Iterator[tuple[list[Any], list[Any]]]:
    """Random pairs of distributions; every third has ties and zeros."""
    for number in range(count):
        k = int(rng.integers(*sizes))
        if number % 3 == 0:
            counts = rng.multinomial(3 * k, np.full(k, 1 / k), size=2)
            if np.array_equal(*counts):
                continue
            yield tuple([Fraction(int(c), 3 * k) for c in row] for row in counts)  # type: ignore[misc]
        else:
            spread = float(rng.choice([0.3, 1, 3]))
            yield rng.dirichlet(np.full(k, spread)).tolist(), rng.dirichlet(np.full(k, spread)).tolist()


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["id"])
def test_the_published_sets_are_as_good_and_nothing_is_better(row: dict[str, Any]) -> None:
    ask, wanted = row["inputs"], row["value"]
    designed = extremal_design(ask["P0"], ask["P1"], ask["eps"], ask["f"])
    assert designed.value == pytest.approx(wanted["lp"], rel=1e-8)
    assert 1 <= designed.gap <= 1 + 1e-8
    listed = tuple(map(tuple, wanted["support"]))
    value = block_value(designed.hypotheses, listed, as_divergence(ask["f"]), ask["eps"])
    assert value == pytest.approx(designed.optimum, rel=1e-8)


def test_blocks_equal_the_program_over_all_patterns() -> None:
    rng = np.random.default_rng(11)
    names: list[Any] = [*NAMED, *FUNCTIONS.values()]
    for number, (p0, p1) in enumerate(pairs(70, (2, 8), rng=rng)):
        pair, chosen = Hypotheses.of(p0, p1), as_divergence(names[number % len(names)])
        eps = float(rng.choice([0.2, 1, 2.5, 5]))
        blocks = best_partition(pair, chosen, eps)
        if blocks.value < 1e-12:
            continue
        program = solve_program(pair, chosen, eps, all_patterns(pair.size), 1e-9, 10)
        assert program.value == pytest.approx(blocks.value, rel=1e-7)
        assert program.upper_bound <= blocks.value * (1 + 1e-7)


def test_pricing_finds_the_best_of_all_patterns() -> None:
    rng = np.random.default_rng(5)
    names: list[Any] = [*NAMED, *FUNCTIONS.values()]
    for number, (p0, p1) in enumerate(pairs(60, (2, 8), rng=rng)):
        pair, chosen, eps = Hypotheses.of(p0, p1), as_divergence(names[number % len(names)]), float(rng.choice([0.3, 1, 3]))
        everything = all_patterns(pair.size)
        worth = parts(pair, chosen, eps, everything)
        prices = rng.normal(size=pair.size) * float(worth.max()) / pair.size
        excess = worth - prices.sum() - math.expm1(eps) * (everything @ prices)
        wanted = prices.sum() + max(0.0, float(excess.max()))
        assert price(pair, chosen, eps, prices).upper_bound == pytest.approx(wanted, rel=1e-6, abs=1e-9 * float(worth.max()))


def test_every_design_of_many_categories_is_certified() -> None:
    rng = np.random.default_rng(2)
    for number, (p0, p1) in enumerate(pairs(24, (11, 40), rng=rng)):
        designed = extremal_design(p0, p1, float(rng.choice([0.2, 1, 4, 8])), list(NAMED)[number % 4])
        assert designed.gap <= 1 + 1e-6, designed
        assert designed.mechanism.certificate().holds
        assert designed.value >= max(designed.binary, designed.k_rr) * (1 - 1e-8)


def test_150_categories_are_designed_by_blocks() -> None:
    rng = np.random.default_rng(1)
    p0, p1 = rng.dirichlet(np.ones(150), size=2).tolist()
    designed = extremal_design(p0, p1, 4, "kl")
    assert designed.regime == "blocks"
    assert designed.gap < 1 + 1e-6


@pytest.mark.parametrize("eps", [0.1, 1, 3])
def test_total_variation_is_the_binary_mechanisms(eps: float) -> None:
    designed = extremal_design(*C, eps, "tv")
    distance = sum(abs(a - b) for a, b in zip(*C, strict=True)) / 2
    assert designed.value == pytest.approx(math.tanh(eps / 2) * distance, rel=1e-9)
    assert designed.regime == "binary"
    assert designed.binary == pytest.approx(designed.value, rel=1e-9)


def test_the_binary_mechanism_is_as_near_as_published() -> None:
    for eps in (0.5, 1, 2, 5):
        designed = extremal_design(*C, eps, "kl")
        assert designed.binary >= designed.upper_bound / (2 * (math.exp(eps) + 1) ** 2)


def test_regimes_end_where_they_should() -> None:
    binary, full = regimes(*C)
    assert [extremal_design(*C, eps).regime for eps in (binary - 0.01, binary + 0.01, full - 0.01, full + 0.01)] == [
        "binary",
        "blocks",
        "blocks",
        "k-rr",
    ]
    assert regimes(*A)[0] == pytest.approx(1.583, abs=1e-3)  # not the published sides, but the better ones of a tie
    assert regimes([0.25, 0.25, 0.5], [0.3, 0.3, 0.4])[1] == math.inf  # two categories that differ in nothing


@pytest.mark.parametrize("method", ["all", "generated", "intervals"])
def test_all_methods_agree(method: str) -> None:
    designed = extremal_design(*C, 4, "kl", method=method)
    assert designed.value == pytest.approx(0.442052513, rel=1e-8)
    assert designed.gap <= 1 + 1e-8
    assert designed.method == method


@pytest.mark.parametrize(("eps", "divergence"), [(0.5, "kl"), (4, "chi2"), (8, "hellinger")])
def test_designs_conform(eps: float, divergence: str) -> None:
    names = Categories([f"c{i}" for i in range(6)])
    mechanism = extremal_design(*C, eps, divergence, domain=names).mechanism
    assert_conforms(mechanism)
    assert mechanism_from_recipe(mechanism.recipe()).fingerprint == mechanism.fingerprint


def test_weights_of_a_program_are_rounded_toward_privacy() -> None:
    # Balanced but for the first weight's last digits, as a program leaves them: rows are levelled downward.
    weights = [0.2 + 1e-8, 0.1, 0.3, 0.2, 0.1]
    mechanism = Extremal(domain=Categories(3), epsilon=1, patterns=[[0], [1], [2], [0, 1], [1, 2]], weights=weights)
    assert mechanism.certificate().holds
    rows = [list(mechanism.channel.row(x)) for x in range(3)]
    assert len(set(map(sum, rows))) == 1
    assert rows[0][0] < mechanism.privacy.floor(min(row[0] for row in rows))
    assert_conforms(mechanism)


@pytest.mark.parametrize("name", NAMED)
def test_derivatives_belong_to_their_functions(name: str) -> None:
    chosen = NAMED[name]
    for d in (-0.6, -0.1, 1e-4, 0.3, 5.0):
        step = 1e-6 * (1 + d)
        values = chosen.excess(np.array([d + step, d - step]))
        assert float(chosen.slope(np.array([d]))[0]) == pytest.approx(float(values[0] - values[1]) / (2 * step), rel=1e-4, abs=1e-9)
    assert float(chosen.excess(np.zeros(1))[0]) == 0


def test_divergences_have_their_usual_values() -> None:
    m0, m1 = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    usual = {
        "kl": float((m0 * np.log(m0 / m1)).sum()),
        "tv": float(np.abs(m0 - m1).sum() / 2),
        "chi2": float(((m0 - m1) ** 2 / m1).sum()),
        "hellinger": 1 - float(np.sqrt(m0 * m1).sum()),
    }
    for name, value in usual.items():
        assert NAMED[name].between(m0, m1) == pytest.approx(value, rel=1e-12)
    given = as_divergence(lambda t: t * math.log(t))
    assert isinstance(given, Divergence)
    assert given.between(m0, m1) == pytest.approx(usual["kl"], rel=1e-8)


def test_small_epsilon_keeps_its_digits() -> None:
    designed = extremal_design(*A, "0.0001", "kl")
    # D = (E-1)**2 (P0(0) - P1(0))**2 / 8 to first order, on two blocks of which one has the tie.
    assert designed.value == pytest.approx(1e-8 * 0.3**2 / 2, rel=1e-3)
    assert designed.gap < 1 + 1e-6


def test_zeros_are_welcome() -> None:
    designed = extremal_design([0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], 1, "kl")
    assert designed.gap < 1 + 1e-6
    assert designed.non_private == math.inf
    assert extremal_design([1, 0], [0, 1], 1, "tv").non_private == pytest.approx(1)


@pytest.mark.parametrize(
    ("p0", "p1", "message"),
    [
        ([0.5, 0.5], [0.5, 0.5], "equal"),
        ([1], [1], "at least 2"),
        ([0.5, 0.6], [0.5, 0.5], "sum to 1"),
        ([-0.5, 1.5], [0.5, 0.5], "none negative"),
        ([0.5, float("nan")], [0.5, 0.5], "finite"),
        ([0.5, 0.5], [0.2, 0.3, 0.5], "one probability per category"),
        ([0.5, 0.5], [0.5 + 1e-12, 0.5 - 1e-12], "1e-9"),
        ("0.5,0.5", [0.5, 0.5], "list"),
    ],
)
def test_bad_hypotheses_are_refused(p0: Any, p1: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        extremal_design(p0, p1, 1)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"divergence": "l2"}, "kl, tv, chi2, hellinger"),
        ({"divergence": lambda t: -((t - 1) ** 2)}, "convex"),
        ({"divergence": lambda t: t}, r"f\(1\) = 0"),
        ({"divergence": lambda t: max(t - 9, 0)}, "nothing to maximise"),
        ({"method": "magic"}, "method"),
        ({"seconds": 0}, "seconds"),
        ({"domain": Categories(4)}, "one category per probability"),
    ],
)
def test_bad_questions_are_refused(extra: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        extremal_design(*A, 1, **extra)


@pytest.mark.parametrize(
    ("patterns", "weights", "message"),
    [
        ([[0], [1]], None, "balance"),
        ([[0], [1, 2], [0]], None, "differ"),
        ([[0, 1, 2]], None, "at least two"),
        ([[0, 1, 2], [0]], None, "neither none nor all"),
        ([[], [0, 1]], None, "neither none nor all"),
        ([[0], [1, 3]], None, "0 … 2"),
        ([[0], [1, 2]], [1], "one positive number per pattern"),
        ([[0], [1, 2]], [1, 0], "positive"),
        ("01", None, "at least two"),
    ],
)
def test_bad_patterns_are_refused(patterns: Any, weights: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Extremal(domain=Categories(3), epsilon=1, patterns=patterns, weights=weights)


def test_sample_sizes_hold_in_a_simulation() -> None:
    designed = extremal_design(*A, 2)
    size = sample_size(designed.mechanism, *A, alpha=0.05, beta=0.1)
    assert size.necessary <= size.stein * 1.5 < size.sufficient
    rng = np.random.default_rng(4)
    laws = marginals(designed.mechanism, designed.hypotheses)
    m1 = laws.second
    scores = np.array(size.scores)
    rejected = [
        float((rng.multinomial(size.sufficient, law / law.sum(), size=4000) @ scores / size.sufficient > size.threshold).mean())
        for law in (m1 + laws.difference, m1)
    ]
    assert rejected[0] <= 0.05
    assert rejected[1] >= 0.9


def test_sample_sizes_refuse_nonsense() -> None:
    mechanism = extremal_design(*A, 2).mechanism
    with pytest.raises(InvalidParameter, match="alpha"):
        sample_size(mechanism, *A, alpha=0.5, beta=0.5)
    with pytest.raises(InvalidParameter, match="3 inputs"):
        sample_size(mechanism, [0.5, 0.5], [0.4, 0.6])
    assert measured(mechanism, Hypotheses.of(*A), "kl") == pytest.approx(0.1246431812, rel=1e-8)


@pytest.mark.parametrize("command", [["extremal"], ["design", "--test"]])
def test_the_command_prints_the_design(command: list[str], tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.json"
    result = CliRunner().invoke(
        main,
        [*command, "0.5,0.3,0.2", "0.2,0.3,0.5", "--epsilon", "2", "--divergence", "kl", "--recipe-out", str(recipe), "--json"],
    )
    assert result.exit_code == 0, result.output
    shown = json.loads(result.output)
    assert shown["value"] == pytest.approx(0.1246431812, rel=1e-8)
    assert shown["gap"] == pytest.approx(1)
    assert shown["holds"]
    assert mechanism_from_recipe(json.loads(recipe.read_text())).recipe() == shown["recipe"]
    plain = CliRunner().invoke(main, [*command, "0.5,0.3,0.2", "0.2,0.3,0.5", "--epsilon", "2"])
    assert "suffice for errors" in plain.output


def test_the_command_reads_files_and_refuses_others(tmp_path: Path) -> None:
    for name, values in zip(("p0", "p1"), A, strict=True):
        (tmp_path / name).write_text("\n".join(map(str, values)))
    good = CliRunner().invoke(main, ["extremal", str(tmp_path / "p0"), str(tmp_path / "p1"), "-e", "1"])
    assert good.exit_code == 0
    bad = CliRunner().invoke(main, ["extremal", "nothing", "0.5,0.5", "-e", "1"])
    assert bad.exit_code == 2
    assert "P0 must be probabilities" in bad.output
