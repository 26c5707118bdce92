"""The law of what a model sees, against every output and its integer weight."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable.core import Binary, Categories, Circle, Interval, Mechanism, all_mechanisms, make_mechanism
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain
from deniable.studies import Feature, OutputLaw, Perturbation, ProductLaw, perturbations, product_law
from deniable.studies.classifiers.perturbation import shared_epsilon

MOST = 20_000


def examples() -> list[Mechanism]:
    """Every example of every registered mechanism whose outputs are numbers or categories by number."""
    found = []
    for kind in all_mechanisms():
        for mechanism in kind.examples():
            try:
                Perturbation(mechanism)
            except (NotSupported, InvalidParameter):
                continue
            if mechanism.channel.outputs <= MOST:
                found.append(mechanism)
    return found


EXAMPLES = examples()


def some_value(mechanism: Mechanism) -> float | int:
    domain = mechanism.domain
    if isinstance(domain, Interval):
        return float(domain.low + domain.width * Fraction(2, 5))
    if isinstance(domain, Circle):
        return float(domain.period * Fraction(1, 7))
    return 1


def test_most_mechanisms_have_a_law_here() -> None:
    assert len({mechanism.name for mechanism in EXAMPLES}) >= 25
    assert {"ogpm", "sw", "k-rr", "exponential", "laplace", "gaussian", "privacy-indicator", "circular-ogpm"} <= {
        mechanism.name for mechanism in EXAMPLES
    }


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: f"{m.name}-{m.channel.outputs}")
def test_an_interval_weighs_what_its_outputs_weigh(mechanism: Mechanism) -> None:
    value = some_value(mechanism)
    law = OutputLaw(mechanism, value)
    numbers = law.perturbation.decode(np.arange(mechanism.channel.outputs))
    row = list(mechanism.channel.row(law.index))
    ends = sorted({float(numbers.min()), float(numbers.max()), *np.quantile(numbers, [0.2, 0.5, 0.7]).tolist(), numbers[1] + 1e-9})
    for i, low in enumerate(ends):
        for high in ends[i:]:
            inside = sum(weight for weight, number in zip(row, numbers.tolist(), strict=True) if low <= number <= high)
            exact = Fraction(inside, mechanism.channel.total)
            assert law.mass(low, high) == exact
            assert law.probability(low, high) == pytest.approx(float(exact), abs=1e-12)


@pytest.mark.parametrize("mechanism", EXAMPLES[::3], ids=lambda m: f"{m.name}-{m.channel.outputs}")
def test_atoms_are_all_of_it_in_rising_order(mechanism: Mechanism) -> None:
    numbers, chances = OutputLaw(mechanism, some_value(mechanism)).atoms
    assert (np.diff(numbers) > 0).all()
    assert chances.sum() == pytest.approx(1, abs=1e-12)


def test_a_double_that_an_output_decodes_to_means_that_output() -> None:
    law = OutputLaw(make_mechanism("ogpm", domain=Interval("0.1", "0.7", cells=1000), epsilon=1), 0.3)
    numbers, chances = law.atoms
    below, upto = law.up_to(numbers, strictly=True), law.up_to(numbers)
    assert np.abs(upto - below - chances).max() < 1e-14


def test_what_the_model_sees_decides_the_comparison() -> None:
    feature = Feature(10**6, 10**6 + 1)  # single precision has 16 numbers here, the lattice a million
    law = OutputLaw(feature.perturbed_by("ogpm", 2), 10**6 + 0.5)
    numbers, chances = law.atoms

    def single(values: np.ndarray) -> np.ndarray:
        return values.astype(np.float32).astype(np.float64)

    edges = np.unique(single(numbers))
    expected = [chances[single(numbers) <= edge].sum() for edge in edges]
    assert np.abs(law.up_to(edges, seen=single) - expected).max() < 1e-12
    assert abs(law.up_to(edges[:1])[0] - expected[0]) > 1e-3


def test_a_million_cells_are_not_written_out_for_one_interval() -> None:
    law = OutputLaw(make_mechanism("ogpm", epsilon=2), 0.5)
    assert law.probability(0.2, 0.8) == pytest.approx(0.8528482235, abs=2e-6)
    assert float(law.mass(0.2, 0.8)) == pytest.approx(law.probability(0.2, 0.8), abs=1e-15)
    assert not {"_row", "_sums", "_weights", "atoms"} & set(law.__dict__)


def test_a_box_is_the_product_of_its_sides() -> None:
    features = [Feature(0, 1), Feature(-5, 5)]
    law = product_law(perturbations("sw", features, 3), [0.25, 1])
    sides = [one.mass(low, high) for one, low, high in zip(law.laws, (0.1, -1), (0.5, 2), strict=True)]
    assert law.mass((0.1, -1), (0.5, 2)) == sides[0] * sides[1]
    assert law.probability((0.1, -1), (0.5, 2)) == pytest.approx(float(sides[0] * sides[1]), abs=1e-15)
    assert law.probability((0.5, -1), (0.1, 2)) == 0


def test_a_total_budget_is_shared_exactly() -> None:
    assert shared_epsilon(1, 3, "total") == Fraction(1, 3)
    each = perturbations("ogpm", [Feature()] * 3, 1, budget="total")
    assert all(one.mechanism.privacy.exact == Fraction(1, 3) for one in each)
    assert perturbations("ogpm", [Feature()] * 3, 1)[0].mechanism.privacy.exact == 1


def test_categories_on_an_interval_are_its_cells() -> None:
    perturbed = Feature(0, 10, points=5).perturbed_by("k-rr", 2)
    assert [perturbed.index(value) for value in (0, 1.9, 2, 10)] == [0, 0, 1, 4]
    assert perturbed.decode(np.arange(5)).tolist() == pytest.approx([1, 3, 5, 7, 9])
    assert Feature(0, 10).perturbed_by("k-rr", 2) is Feature(0, 10).perturbed_by("k-rr", 2)


def test_refusals_say_what_to_do_and_hide_the_value() -> None:
    with pytest.raises(NotSupported, match="k-rr or exponential"):
        Perturbation(make_mechanism("oue", domain=Categories(4), epsilon=1))
    with pytest.raises(InvalidParameter, match="numbers, not names"):
        Perturbation(make_mechanism("k-rr", domain=Categories(["a", "b"]), epsilon=1))
    with pytest.raises(NotSupported, match="not a mechanism for a number"):
        Feature().perturbed_by("circular-ogpm", 1)
    with pytest.raises(InvalidParameter, match="budget"):
        shared_epsilon(1, 2, "half")
    with pytest.raises(InvalidParameter, match="at least one"):
        ProductLaw([])
    with pytest.raises(OutOfDomain) as caught:
        OutputLaw(make_mechanism("ogpm", epsilon=1), 7.31)
    assert "7.31" not in str(caught.value)


def test_randomized_response_answers_with_zero_or_one() -> None:
    law = OutputLaw(make_mechanism("randomized-response", domain=Binary(), epsilon=1), 1)
    assert law.probability(0.5, 1.5) == pytest.approx(np.e / (1 + np.e))
