"""Lists, tuples, arrays and columns of pandas, polars and Arrow are the same thing wherever values are taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.batch import Reports, decode_many, draw_many, randomize_many, table_of_numbers
from deniable.core import Binary, Categories, Interval, Mechanism, Pair, Record, Rectangle, make_mechanism
from deniable.errors import InvalidParameter, OutOfDomain
from deniable.estimators import HierarchicalHistogram, mutual_information, shares, shares_per_user
from deniable.estimators.level_sums import TreeSums
from deniable.privacy import FixedKeystream
from deniable.studies import (
    Feature,
    HashedPair,
    KaryPair,
    Paths,
    Randomizer,
    UnaryPair,
    answer_in_pairs,
    data_utility,
    perturbations,
    study,
)
from deniable.surveys import Client


def in_two_chunks(values: Any) -> Any:
    half = len(values) // 2
    return pa.chunked_array([pa.array(values[:half]), pa.array(values[half:])])


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "numpy": np.asarray,
    "pandas": pd.Series,
    "pandas with another index": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas on Arrow": lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
    "Arrow array": pa.array,
    "Arrow column": in_two_chunks,
}
every_column = pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "Arrow table": pa.table,
    "Arrow batch": pa.RecordBatch.from_pydict,
}
every_frame = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)

FIVE = make_mechanism("k-rr", domain=Categories(5), epsilon=1)
WHOLE = [4, 0, 3, 3, 1, 2] * 20
RAPPOR = make_mechanism("rappor", domain=Categories(5), epsilon=1, permanent=3)
PAIR = Pair.exactly("4/5", "-1/4")
TREE = HierarchicalHistogram(domain=Interval(0, 10), epsilon=1)

MECHANISMS: list[tuple[Mechanism, list[Any]]] = [
    (make_mechanism("randomized-response", domain=Binary(), epsilon=1), [True, False, True] * 30),
    (FIVE, WHOLE),
    (make_mechanism("oue", domain=Categories(["cat", "dog", "bird"]), epsilon=1), ["dog", "dog", "bird", "cat"] * 30),
    (make_mechanism("window", domain=Interval(0, 10, cells=7), epsilon=1), [0.0, 9.75, 10.0, 10 / 7] * 30),
]


@every_column
@pytest.mark.parametrize(("mechanism", "values"), MECHANISMS, ids=lambda case: getattr(case, "name", ""))
def test_reports_of_a_column_are_those_of_its_list(make: Callable[[Any], Any], mechanism: Mechanism, values: list[Any]) -> None:
    reports = randomize_many(mechanism, make(values), FixedKeystream("column"))
    assert reports.ints() == randomize_many(mechanism, values, FixedKeystream("column")).ints()


TAKES: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "joint bits": (lambda bits: answer_in_pairs(PAIR, bits, FixedKeystream("c")), [0, 1, 1, 0] * 10),
    "joint truths": (lambda bits: answer_in_pairs(PAIR, bits, FixedKeystream("c")), [False, True, True, False] * 10),
    "joint k-ary": (lambda held: KaryPair.bounded(5, 1, 2).answer(held, FixedKeystream("c")), WHOLE),
    "joint hashing": (lambda held: HashedPair.bounded(9, 1, 2).answer(held, FixedKeystream("c")), WHOLE),
    "joint unary": (lambda held: UnaryPair.published(5, 1).counts(held, FixedKeystream("c")), WHOLE),
    "joint counts": (lambda counts: KaryPair.bounded(5, 1, 2).estimate(counts).value, [10, 20, 30, 20, 20]),
    "hierarchy": (lambda held: np.concatenate(tree_sums(held).node_shares()), [0.5, 3.25, 7.0, 9.0] * 20),
    "channel": (lambda inputs: draw_many(FIVE.channel, inputs, FixedKeystream("c")), WHOLE),
    "decoding": (lambda outputs: decode_many(FIVE, list(outputs) if isinstance(outputs, tuple) else outputs), WHOLE),
    "prior": (lambda prior: mutual_information(FIVE, prior), [0.2, 0.1, 0.3, 0.3, 0.1]),
    "users by name": (
        lambda users: shares_per_user(reports_of_rappor(), users).value,
        ["ann", "bob", "ann", "cy", "di", "eve"] * 20,
    ),
    "users by number": (lambda users: shares_per_user(reports_of_rappor(), users).value, [1, 2, 1, 3, 4, 5] * 20),
}


def tree_sums(held: Any) -> TreeSums:
    return TREE.accumulate(TREE.randomize_many(held, FixedKeystream("c")))


def reports_of_rappor() -> Reports:
    return randomize_many(RAPPOR, WHOLE, FixedKeystream("rappor"))


@every_column
@pytest.mark.parametrize("name", TAKES)
def test_a_column_is_taken_like_its_list(make: Callable[[Any], Any], name: str) -> None:
    asked, values = TAKES[name]
    assert np.array_equal(np.asarray(asked(make(values))), np.asarray(asked(values)))


@pytest.mark.parametrize("make", [list, *(made for name, made in COLUMNS.items() if name != "tuple")])
@pytest.mark.parametrize("name", ["k-rr", "oue", "olh", "subset"])
def test_outputs_in_a_column_are_reports(make: Callable[[Any], Any], name: str) -> None:
    mechanism = make_mechanism(name, domain=Categories(5), epsilon=1)
    sent = randomize_many(mechanism, WHOLE, FixedKeystream("outputs"))
    again = Reports(mechanism, make(sent.ints())) if make is not np.asarray else Reports(mechanism, sent.outputs)
    assert again.ints() == sent.ints()
    assert shares(again).value.tolist() == shares(sent).value.tolist()


@pytest.mark.parametrize("outputs", [[0, 5], [-1], [0.5], ["a"], pl.Series([0, 5])])
def test_outputs_a_recipe_cannot_give_are_refused(outputs: Any) -> None:
    with pytest.raises(InvalidParameter, match="outputs must be"):
        Reports(FIVE, outputs)


@pytest.mark.parametrize(
    "answers", [[0.5, 1.0], [2, 0], np.array([256, 0]), [-1, 0], ["yes", "no"], pl.Series([0.0, 1.0]), [[0, 1]]]
)
def test_joint_answers_that_are_no_bits_are_refused_and_not_rounded(answers: Any) -> None:
    with pytest.raises(InvalidParameter, match="the answers must be"):
        answer_in_pairs(PAIR, answers)


def test_a_missing_answer_is_called_missing() -> None:
    for column in (pd.Series([1, None]), pl.Series([1, None]), pa.array([1, None])):
        with pytest.raises(OutOfDomain, match="missing"):
            answer_in_pairs(PAIR, column)


def over_half(rows: Any) -> Any:
    """A model."""
    return (np.asarray(rows)[:, 0] > 0.5).astype(int)


TABLE = {"income": [0.25, 0.75, 0.5], "age": [0.1, 0.2, 0.9], "visits": [7, 8, 9]}
ROWS = np.array(list(TABLE.values()), dtype=np.float64).T


@every_frame
def test_a_study_takes_frames_and_their_names(make: Callable[[Any], Any]) -> None:
    found = study(over_half, make(TABLE), {"age": Feature(0, 1)})
    assert found.names == ("age",)
    assert found.records.tolist() == ROWS.tolist()


@every_column
def test_a_study_takes_the_truth_as_a_column(make: Callable[[Any], Any]) -> None:
    found = study(over_half, ROWS, {0: Feature(0, 1)}, truth=make([0, 1, 1]))
    assert found.answers.tolist() == [0, 1, 1]


@every_frame
def test_a_randomizer_takes_frames_and_their_names(make: Callable[[Any], Any]) -> None:
    made = Randomizer({"age": (0, 1)}, mechanism="k-rr", epsilon=1).fit_transform(make(TABLE))
    private = table_of_numbers(made)[0]
    assert private[:, [0, 2]].tolist() == ROWS[:, [0, 2]].tolist()
    assert not np.isnan(private).any()


@every_frame
def test_utility_over_a_data_set_takes_frames(make: Callable[[Any], Any]) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    model = linear.LogisticRegression().fit(ROWS, [0, 1, 1])
    noise = perturbations("k-rr", [Feature(0, 1)], 1)
    assert data_utility(model, make(TABLE), [0], noise).values.tolist() == data_utility(model, ROWS, [0], noise).values.tolist()


@every_frame
def test_records_and_places_are_frames(make: Callable[[Any], Any]) -> None:
    people = make_mechanism(
        "product", domain=Record({"income": Interval(0, 1, cells=4), "age": Interval(0, 1, cells=4)}), epsilon=1
    )
    square = make_mechanism("nearest-cells", domain=Rectangle(Interval(0, 1, cells=8), Interval(0, 1, cells=8)), epsilon=1)
    columns = {"income": TABLE["income"], "age": TABLE["age"]}
    for mechanism, plain in ((people, columns), (square, ROWS[:, :2])):
        reports = randomize_many(mechanism, make(columns), FixedKeystream("frame"))
        assert reports.ints() == randomize_many(mechanism, plain, FixedKeystream("frame")).ints()


@every_frame
def test_paths_are_made_of_frames(make: Callable[[Any], Any]) -> None:
    paths = Paths.of([make({"x": [0.0, 1.0], "y": [0.5, 0.25]})])
    assert paths.places.tolist() == [[0.0, 0.5], [1.0, 0.25]]


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (FIVE, np.int64(3)),
        (FIVE, np.uint8(3)),
        (FIVE, pd.Series([3]).iloc[0]),
        (FIVE, pl.Series([3])[0]),
        (FIVE, pa.array([3])[0].as_py()),
        (make_mechanism("window", domain=Interval(0, 10), epsilon=1), np.float32(3.5)),
        (make_mechanism("k-rr", domain=Categories(["a", "b"]), epsilon=1), np.str_("a")),
        (make_mechanism("randomized-response", domain=Binary(), epsilon=1), np.bool_(True)),
    ],
)
def test_a_device_takes_one_value_of_a_column(mechanism: Mechanism, value: Any) -> None:
    assert len(Client(mechanism.recipe(), max_epsilon=1).randomize(value)) > 0
