"""A simulation can be repeated, and nothing that real people use can be touched by its seed."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable
from deniable import Client
from deniable.core import Categories, Interval, KaryRandomizedResponse, Window, encode_reports
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import mean, shares
from deniable.surveys import Ledger, MockTransport, Session, survey_from_toml
from deniable.testing import NotPrivate, seeded

QUESTION = KaryRandomizedResponse(domain=Categories(1 << 20), epsilon="0.01")
"""Two draws that agree by chance do so once in a million."""
SURVEY = """
title = "A test"
purpose = "To be tested."
epsilon = "0.01"
[attributes.number]
question = "Which?"
domain = "categories:1048576"
mechanism = "k-rr"
"""

pytestmark = pytest.mark.filterwarnings("ignore::deniable.testing.NotPrivate")


def simulated(seed: int | str) -> list[int]:
    with seeded(seed) as simulation:
        return list(simulation.randomize_many(QUESTION, [5] * 20).ints())


def test_equal_seeds_draw_equal_reports_and_others_do_not() -> None:
    assert simulated(1) == simulated(1)
    assert simulated("one") == simulated("one")
    assert simulated(1) != simulated(2)
    assert simulated(1) != simulated("1")


def test_one_simulation_goes_on_and_does_not_repeat_itself() -> None:
    with seeded(3) as simulation:
        assert simulation.randomize_many(QUESTION, [5] * 20).ints() != simulation.randomize_many(QUESTION, [5] * 20).ints()


def test_a_simulation_lends_its_coins_to_other_simulations_until_it_ends() -> None:
    with seeded(4) as simulation:
        first = simulation.keystream
    with seeded(4) as again:
        drawn = np.zeros((2, 5), np.uint64)
        first.fill(drawn[0])
        again.keystream.fill(drawn[1])
        assert drawn[0].any()
        assert (drawn[0] == drawn[1]).all()
    with pytest.raises(NotSupported, match="has ended"):
        _ = simulation.keystream


@pytest.mark.slow
def test_estimators_take_simulated_reports() -> None:
    with seeded(1) as simulation:
        few = KaryRandomizedResponse(domain=Categories(3), epsilon=2)
        assert shares(simulation.randomize_many(few, [0] * 3000)).value[0] == pytest.approx(1, abs=0.2)
        assert mean(simulation.randomize_many(Window(domain=Interval(0, 1), epsilon=4), [0.5] * 3000)).n == 3000


def test_it_says_every_time_that_it_is_not_private() -> None:
    for _ in range(2):
        with pytest.warns(NotPrivate, match="not private"), seeded(1):
            pass


def test_simulated_reports_cannot_be_sent() -> None:
    with seeded(1) as simulation:
        reports = simulation.randomize_many(QUESTION, [5] * 3)
    sends: list[Callable[[], Any]] = [
        reports.to_bytes,
        lambda: reports[0],
        lambda: list(reports),
        lambda: encode_reports(QUESTION, reports),
    ]
    for send in sends:
        with pytest.raises(NotSupported, match="must not be sent"):
            send()


def real_draws(folder: Path) -> list[Any]:
    """What every real way to draw gives: two mechanisms' paths, a client and a session."""
    sent = MockTransport()
    session = Session(survey_from_toml(SURVEY), Ledger(str(folder / "ledger.db")), "http://localhost:8000", transport=sent)
    session.answer({"number": 5})
    return [
        QUESTION.randomize(5).output,
        QUESTION.randomize_many([5] * 4).ints(),
        Client(QUESTION.recipe(), max_epsilon=1).randomize(5),
        json.loads(sent.posted[0][1])["report"],
    ]


def test_mechanisms_clients_and_sessions_ignore_a_seed(tmp_path: Path) -> None:
    drawn = []
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        with seeded(7):
            drawn.append(real_draws(tmp_path / run))
    assert all(first != second for first, second in zip(*drawn, strict=True))


def test_no_real_path_takes_a_simulation(tmp_path: Path) -> None:
    with seeded(7) as simulation:
        with pytest.raises(TypeError):
            Client(QUESTION.recipe(), max_epsilon=1, coins=simulation)  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            Session(  # type: ignore[call-arg]
                survey_from_toml(SURVEY), Ledger(str(tmp_path / "l.db")), "http://x", transport=MockTransport(), seed=simulation
            )


def test_a_simulation_ends_with_its_block() -> None:
    with seeded(1) as simulation:
        pass
    with pytest.raises(NotSupported, match="has ended"):
        simulation.randomize_many(QUESTION, [1])


@pytest.mark.parametrize("seed", [None, True, 1.5, b"x"])
def test_a_seed_is_a_number_or_a_text(seed: Any) -> None:
    with pytest.raises(InvalidParameter, match="seed"), seeded(seed):
        pass


def test_no_package_imports_the_simulation_or_patches_anything() -> None:
    source = Path(deniable.__file__).parent
    imports = re.compile(r"^\s*(?:from deniable\.testing|from deniable import .*\btesting|import deniable\.testing)", re.MULTILINE)
    others = (path for path in source.rglob("*.py") if path.name != "testing.py")
    assert [path for path in others if imports.search(path.read_text(encoding="utf-8"))] == []
    tree = ast.parse((source / "testing.py").read_text(encoding="utf-8"))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Global)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr"]
