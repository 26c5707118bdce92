"""Which sets of fields are asked: errors as brute force and surveys give them, never above a baseline, close to the best shares."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import Binary, Categories, Marginals, Record
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators import shares, support_law
from deniable.planning import Bound, Question, best_marginals, marginals_error, plan, workload
from deniable.planning.workloads import marginal_ways
from deniable.privacy import FixedKeystream

PERSON = Record({"smokes": Binary(), "city": Categories(3), "job": Categories(4)})


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("oracles", [["k-rr", "projective", "hadamard"], ["subset", "hadamard", "k-rr"]])
def test_the_error_is_that_of_brute_force(ways: int, oracles: list[str]) -> None:
    """All 24 shares by weighted least squares, with the covariances of all marginals' reports written out."""
    sets = [["smokes", "city"], ["city", "job"], ["smokes", "city", "job"]]
    tables = Marginals(domain=PERSON, epsilon=1, marginals=sets, shares=[3, 2, 5], oracles=oracles)
    records = [PERSON.decode(index) for index in range(PERSON.size)]
    sizes = [domain.size for domain in PERSON.fields.values()]
    seen, bread, meat = [], np.zeros((24, 24)), np.zeros((24, 24))
    for fields, part, share in zip(sets, tables.parts.values(), (0.3, 0.2, 0.5), strict=True):
        cells = list(dict.fromkeys(tuple(record[name] for name in fields) for record in records))
        rows = np.array([[float(tuple(r[name] for name in fields) == cell) for r in records] for cell in cells])
        rows = rows - rows.mean(axis=0)
        even = np.full(len(cells), 1 / len(cells))
        once = support_law(part).count_noise(even, True) + np.diag(even) - 1 / len(cells) ** 2
        centre = np.eye(len(cells)) - 1 / len(cells)
        noise = np.trace(centre @ once) / (len(cells) - 1)
        bread += share / noise * rows.T @ rows
        meat += share / noise**2 * rows.T @ centre @ once @ centre @ rows
        seen.append(rows)
    inverse = np.linalg.pinv(bread)
    asked = workload(f"marginals:{ways}", attributes=sizes).matrix.astype(float)
    total = np.trace(asked @ inverse @ meat @ inverse @ asked.T)
    drawn = np.trace(asked @ (np.eye(24) / 24 - 1 / 24**2) @ asked.T)
    assert marginals_error(tables, ways) == pytest.approx(total - drawn)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
@pytest.mark.parametrize("ways", [1, 2])
def test_no_baseline_and_no_other_shares_are_better(ways: int, epsilon: float) -> None:
    person = Record({"a": Binary(), "b": Binary(), "c": Categories(3), "d": Categories(4)})
    design = best_marginals(person, ways, epsilon)
    assert design.full_table is not None
    assert design.error <= min(design.every_table, design.full_table)
    assert 0 <= design.gap < 1e-3
    best = design.mechanism
    assert best.certificate().holds
    assert best.shares is not None
    for place in range(len(best.shares) if len(best.shares) > 1 else 0):
        changed = [share * (3 if one == place else 2) for one, share in enumerate(best.shares)]
        other = Marginals(domain=person, epsilon=epsilon, marginals=best.marginals, shares=changed, oracles=best.oracles)
        assert marginals_error(other, ways) > design.error * (1 - 1e-3)


def test_pairs_of_ten_attributes_take_a_moment() -> None:
    person = Record({name: Categories(4) for name in "abcdefghij"})
    design = best_marginals(person, 2, 4)
    assert design.full_table is None
    assert design.error <= design.every_table
    with pytest.raises(InvalidParameter, match="K from 1 to 10"):
        best_marginals(person, 11, 1)


def test_a_mechanism_that_lacks_a_pair_has_no_error() -> None:
    with pytest.raises(NotSupported, match="has smokes, job together"):
        marginals_error(Marginals(domain=PERSON, epsilon=1, marginals=[["smokes", "city"], ["job"]]), 2)


def test_surveys_are_as_far_off_as_predicted_and_no_mechanism_beats_the_bound() -> None:
    small = Record({"a": Binary(), "b": Categories(3)})
    planned = plan(Question(task="workload", workload="marginals:2", domain=small, users=2000, epsilon=1))
    assert isinstance(planned.bound, Bound)
    for one in planned.candidates:
        assert one.mechanism == "marginals"
        assert one.predicted_error > planned.bound.error * (1 - 1e-6)
        tried = one.way.simulated(2000, 150, FixedKeystream(one.label))
        # Fixed coins; five standard errors would be passed by fewer than 1e-6 of them.
        assert abs(tried.error - one.predicted_error) < 5 * tried.standard_error, one.label
        assert one.attack is not None


def test_a_set_of_all_fields_is_the_mechanism_on_the_whole_record() -> None:
    whole = Marginals(domain=PERSON, epsilon=2, marginals=[["smokes", "city", "job"]], oracles=["subset"])
    people = {"smokes": np.arange(480) % 2, "city": np.arange(480) % 3, "job": np.arange(480) % 4}
    sums = whole.accumulator().add(whole.randomize_many(people))
    assert shares(next(iter(sums.parts.values()))).n == 480


def test_the_command_plans_tables_of_attributes() -> None:
    people = '{"smokes": "binary", "city": "categories:3", "job": "categories:4"}'
    base = ["plan", "--task", "workload", "--workload", "marginals:2", "--users", "1000", "--epsilon", "1", "--json"]
    result = CliRunner().invoke(main, [*base, "--domain", people])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["pick"], document["pick_inside"]) == ("marginals", "best sets")
    several = CliRunner().invoke(main, [*base, "--size", "4", "--attributes", "5"])
    assert several.exit_code == 0, several.output
    assert json.loads(several.stdout)["pick"] == "marginals"


@pytest.mark.parametrize("name", ["prefix", "marginals:all", "marginals:4"])
def test_other_questions_about_records_are_refused(name: str) -> None:
    with pytest.raises((InvalidParameter, NotSupported), match=r"marginals:K"):
        plan(Question(task="workload", workload=name, domain=PERSON, users=1000, epsilon=1))


def test_simulated_people_are_those_of_whole_numbers_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record({"a": Binary(), "b": Categories(["x", "y", "z"]), "c": Categories(5)})
    columns, truth = marginal_ways._people(record, 100, 2)
    monkeypatch.setattr(marginal_ways, "LARGEST_WORD", 0)
    one_by_one, exact = marginal_ways._people(record, 100, 2)
    assert {name: column.tolist() for name, column in columns.items()} == {name: list(one_by_one[name]) for name in columns}
    assert len({tuple(row) for row in zip(*columns.values(), strict=True)}) == 30  # everybody there is
    assert all((truth[fields] == exact[fields]).all() for fields in exact)
