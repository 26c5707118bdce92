"""Parameters as one vector and back, and updates as private reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.core import Ball, NearestCodes
from deniable.errors import InvalidParameter, Malformed, OutOfDomain, WrongRecipe
from deniable.privacy import FixedCoins
from deniable.studies import PrivateUpdates


def model(value: float = 0.0) -> dict[str, Any]:
    return {
        "first": {"weights": np.full((3, 4), value, np.float32), "bias": np.full(3, value, np.float64)},
        "counts": np.array([7, 8], np.int64),
        "layers": [np.full(2, value), (np.float64(value),)],
    }


def test_a_model_becomes_a_vector_and_a_model_again() -> None:
    updates = PrivateUpdates(model(), epsilon=2, clip=1)
    assert updates.dimension == 12 + 3 + 2 + 1
    vector = np.arange(18.0)
    filled = updates.unflatten(model(), vector)
    assert updates.flatten(filled).tolist() == vector.tolist()
    assert filled["first"]["weights"].tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert filled["first"]["weights"].dtype == np.float32
    assert filled["counts"].tolist() == [7, 8]  # counters are not trained
    assert isinstance(filled["layers"][1], tuple)
    assert filled["layers"][1][0] == 17


def test_the_mechanism_is_the_catalogues_own_on_the_ball_of_the_clip() -> None:
    updates = PrivateUpdates(model(), epsilon="0.5", clip=3)
    assert updates.mechanism == NearestCodes(domain=Ball(18, radius=3), epsilon="0.5")
    assert updates.mechanism.certificate().holds
    report = updates.report(model(), model(0.1))
    assert updates.read(report).recipe == updates.mechanism.fingerprint
    assert len(report) <= 19 + 16 + 2


@pytest.mark.slow
def test_the_mean_of_reports_is_that_of_the_clipped_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chance of a false alarm: below 1e-6, by the estimate's own distance; the coins are fixed."""
    monkeypatch.setattr("deniable.studies.federated.updates.SYSTEM", FixedCoins(1))
    generator = np.random.default_rng(5)
    updates = PrivateUpdates([np.zeros(20)], epsilon=8, clip=1)
    trained = [[generator.normal(0.2, 0.3, 20)] for _ in range(600)]
    assert any(np.linalg.norm(one) > 1 for one in trained)
    truth = np.mean([one[0] / max(1, float(np.linalg.norm(one[0]))) for one in trained], axis=0)
    estimate = updates.mean(updates.report([np.zeros(20)], one) for one in trained)
    assert np.linalg.norm(estimate.value - truth) < estimate.distance(1 - 1e-7)
    assert estimate.distance(1 - 1e-7) < np.linalg.norm(truth)  # so that the line above can fail
    moved = updates.moved([np.ones(20)], estimate)
    assert np.allclose(moved[0], 1 + estimate.value)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_an_update_that_is_not_finite_is_no_change_and_still_a_report(broken: float, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = PrivateUpdates(model(), epsilon=2, clip=1)
    sent, seen = updates.report(model(), model()), []

    def watched(_self: NearestCodes, value: Any, _coins: Any) -> Any:
        seen.append(value)
        return updates.read(sent)

    monkeypatch.setattr(NearestCodes, "randomize", watched)
    assert updates.report(model(), model(broken)) == sent
    assert seen == [[0.0] * 18]


def test_wrong_models_and_reports_are_refused_without_showing_a_number() -> None:
    updates = PrivateUpdates(model(), epsilon=2, clip=1)
    with pytest.raises(InvalidParameter, match="18 trained numbers") as refused:
        updates.report(model(), {"first": np.full(3, 0.123)})
    assert "0.123" not in str(refused.value)
    with pytest.raises(InvalidParameter, match="1 to 1,000,000 trained numbers"):
        PrivateUpdates({"counts": np.array([1, 2])}, epsilon=2, clip=1)
    with pytest.raises(InvalidParameter, match="the last layer"):
        PrivateUpdates(np.zeros(1_000_001), epsilon=2, clip=1)
    with pytest.raises(InvalidParameter, match="at least one report"):
        updates.mean([])
    report = updates.report(model(), model(0.1))
    with pytest.raises(Malformed):
        updates.mean([report[:-1]])
    with pytest.raises(WrongRecipe):
        PrivateUpdates(model(), epsilon=1, clip=1).mean([report])
    with pytest.raises(InvalidParameter, match="18 numbers"):
        updates.moved(model(), PrivateUpdates(np.zeros(3), epsilon=1, clip=1).mean([_report(3)]))
    with pytest.raises(OutOfDomain):
        updates.mechanism.randomize([1.0] * 18)  # unclipped


def _report(size: int) -> bytes:
    return PrivateUpdates(np.zeros(size), epsilon=1, clip=1).report(np.zeros(size), np.zeros(size))


def test_tensors_keep_their_type() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'deniable[torch]'")
    tensors = {"weights": torch.zeros((2, 3), dtype=torch.float32), "steps": torch.tensor(4)}
    updates = PrivateUpdates(tensors, epsilon=2, clip=1)
    moved = updates.moved(tensors, updates.mean([updates.report(tensors, tensors)]))
    assert moved["weights"].dtype == torch.float32
    assert moved["weights"].shape == (2, 3)
    assert moved["steps"].item() == 4


def test_a_torch_module_takes_part_by_its_state() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'deniable[torch]'")
    module = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2, dtype=torch.float16))
    state = module.state_dict()
    updates = PrivateUpdates(state, epsilon=2, clip=1)
    assert updates.dimension == 15 + 12 + 8
    moved = updates.moved(state, updates.mean([updates.report(state, state)]))
    module.load_state_dict(moved)
    assert np.array_equal(updates.flatten(module.state_dict()), updates.flatten(moved))
    for other in (module, module.parameters()):
        with pytest.raises(InvalidParameter, match="state_dict"):
            PrivateUpdates(other, epsilon=2, clip=1)


def test_iterators_and_modules_are_refused_with_the_next_step() -> None:
    class Module:
        def state_dict(self) -> dict[str, Any]:
            return {}

    for other in (Module(), iter([np.zeros(3)])):
        with pytest.raises(InvalidParameter, match="state_dict"):
            PrivateUpdates(other, epsilon=2, clip=1)
