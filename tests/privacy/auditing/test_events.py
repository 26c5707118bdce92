"""Which event the search chooses, from few draws and from draws that tell nothing."""

import numpy as np
import pytest
from tests.privacy.auditing import faults

from deniable.privacy import FixedKeystream, audit
from deniable.privacy.auditing.events import best_union


def test_an_event_that_holds_every_report_is_not_chosen() -> None:
    for first, second in (([50, 50, 0], [50, 50, 0]), ([40, 60, 0], [60, 40, 0])):
        for beside in (None, 1.0):
            _, accepted = best_union(np.array(first), np.array(second), delta=0.0, epsilon=beside)
            assert np.array(first)[accepted].sum() < 100


def test_reports_that_are_all_equal_show_nothing() -> None:
    order = FixedKeystream(1)
    verdict = audit(lambda values: np.zeros(len(values), np.int64), [0, 1], epsilon=1, samples=1000, vectorised=True, order=order)
    assert verdict.violated is False
    assert verdict.epsilon_lower <= 0


@pytest.mark.parametrize(("k", "epsilon", "samples", "shown"), [(10, 3, 1000, 1.0), (50, 1, 30_000, 0.3), (1000, 5, 3000, 0.7)])
def test_few_draws_already_choose_the_telling_event(k: int, epsilon: int, samples: int, shown: float) -> None:
    """Slow commands are audited with a few thousand draws; averages over fixed coins."""
    found = [
        audit(
            faults.k_ary(k, epsilon, coins),
            [0, 1, k - 1],
            epsilon=epsilon,
            samples=samples,
            vectorised=True,
            order=FixedKeystream(coins),
        ).epsilon_lower
        for coins in range(8)
    ]
    assert np.mean(found) > shown
