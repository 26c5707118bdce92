"""Channels: the sampler's law is exactly the weights, by trying every answer of the coins."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.channels.small import CHANNELS, SETS

from deniable.core import (
    Bits,
    Chain,
    Channel,
    Epsilon,
    Field,
    Identity,
    Interpolated,
    Mixture,
    Nested,
    Product,
    Profile,
    Reference,
    Singleton,
    Steps,
    Subsets,
    Table,
    TwoLevel,
    canonical_json,
    column_ratio,
)
from deniable.core.channels.profile import symmetric
from deniable.core.channels.table import level_rows
from deniable.errors import InvalidParameter
from deniable.privacy import exact_law


def name_of(channel: object) -> str:
    return repr(channel).replace(" ", "")[:80]


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_the_sampler_has_exactly_the_law_of_the_weights(channel: Channel) -> None:
    for index in range(channel.inputs):
        law = exact_law(partial(channel.draw, index))
        weights = {output: Fraction(weight, channel.total) for output, weight in enumerate(channel.row(index)) if weight}
        assert law == weights


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_the_largest_ratio_is_found_by_looking_at_every_weight(channel: Channel) -> None:
    assert channel.max_ratio() == column_ratio(channel)


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_every_row_has_the_same_total_and_runs_add_up(channel: Channel) -> None:
    for index in range(channel.inputs):
        row = list(channel.row(index))
        assert len(row) == channel.outputs
        assert sum(row) == channel.total
        for start in range(channel.outputs):
            for stop in range(start, min(channel.outputs, start + 9) + 1):
                assert channel.mass(index, start, stop) == sum(row[start:stop])


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_what_a_browser_gets_is_integers_and_text(channel: Channel) -> None:
    compiled = channel.compiled()
    assert json.loads(canonical_json(compiled)) == compiled
    assert {"kind"} <= set(compiled)


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_strange_indices_are_refused(channel: Channel) -> None:
    channel.check(0, 0)
    for index, output in ((-1, None), (channel.inputs, None), (0, -1), (0, channel.outputs)):
        with pytest.raises(InvalidParameter, match="the channel has"):
            channel.check(index, output)


def test_huge_channels_can_refuse_too() -> None:
    with pytest.raises(InvalidParameter, match="outputs 0 to"):
        Bits(20_000, own=2, other=1, scale=3).check(0, -1)


# --- random shapes


@settings(max_examples=60)
@given(st.data())
def test_windows_inside_windows_have_their_ratio_and_law(data: st.DataObject) -> None:
    cells = data.draw(st.integers(3, 9))
    widths = sorted(data.draw(st.sets(st.integers(0, (cells - 2) // 2), min_size=1).map(lambda s: {2 * w + 1 for w in s})))
    weights = data.draw(st.lists(st.integers(1, 6), min_size=len(widths) + 1, max_size=len(widths) + 1))
    channel = Nested(cells, widths, weights)
    assert channel.max_ratio() == column_ratio(channel)
    for index in range(cells):
        law = exact_law(partial(channel.draw, index))
        assert law == {output: Fraction(weight, channel.total) for output, weight in enumerate(channel.row(index))}


@settings(max_examples=80)
@given(st.data())
def test_profiles_have_their_ratio_and_law(data: st.DataObject) -> None:
    inputs, margin = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 2))
    reach = inputs - 1 + margin
    left, right = reach + data.draw(st.integers(0, 2)), reach + data.draw(st.integers(0, 2))
    weights = data.draw(st.lists(st.integers(0, 5), min_size=left + right + 1, max_size=left + right + 1).filter(any))
    channel = Profile(weights, first=-left, inputs=inputs, margin=margin)
    assert channel.max_ratio() == column_ratio(channel)
    for index in range(inputs):
        law = exact_law(partial(channel.draw, index))
        assert law == {output: Fraction(w, channel.total) for output, w in enumerate(channel.row(index)) if w}


@settings(max_examples=80)
@given(st.data())
def test_references_have_their_ratio_and_law(data: st.DataObject) -> None:
    outputs = data.draw(st.integers(2, 6))
    low = data.draw(st.lists(st.integers(1, 4), min_size=outputs, max_size=outputs))
    high = [w + data.draw(st.integers(0, 4)) for w in low]
    high[0] += 1
    places = st.sets(st.integers(-12, 12), min_size=outputs, max_size=outputs).map(sorted)
    inputs_at = data.draw(st.sets(st.integers(-15, 15), min_size=1, max_size=6).map(sorted))
    total = data.draw(st.integers(sum(low), sum(high) - 1))
    channel = Reference(low, high, data.draw(places), inputs_at, total)
    assert channel.max_ratio() == column_ratio(channel)
    for index in range(channel.inputs):
        row = list(channel.row(index))
        assert sum(row) == total
        assert all(a <= w <= b for a, w, b in zip(low, row, high, strict=True))
        law = exact_law(partial(channel.draw, index))
        assert law == {output: Fraction(w, total) for output, w in enumerate(row)}


@given(st.data())
def test_a_reference_favours_the_nearest_outputs_and_the_left_one_of_two(data: st.DataObject) -> None:
    outputs = data.draw(st.integers(2, 7))
    low = data.draw(st.lists(st.integers(1, 3), min_size=outputs, max_size=outputs))
    gains = data.draw(st.lists(st.integers(1, 3), min_size=outputs, max_size=outputs))
    places = data.draw(st.sets(st.integers(-6, 6), min_size=outputs, max_size=outputs).map(sorted))
    inputs = sorted({place for a, b in pairwise(places) for place in (a, (a + b) // 2, b)} | {-9, 11})
    total = data.draw(st.integers(sum(low), sum(low) + sum(gains) - 1))
    channel = Reference(low, [a + b for a, b in zip(low, gains, strict=True)], places, inputs, total)
    for index, at in enumerate(inputs):
        row, left = list(low), total - sum(low)
        for output in sorted(range(outputs), key=lambda y, at=at: (abs(places[y] - at), y)):  # type: ignore[misc]
            gain = min(gains[output], left)
            row[output] += gain
            left -= gain
        assert list(channel.row(index)) == row


def test_rows_of_many_outputs_have_their_total_too() -> None:
    wide = Reference([2] * 700, [5] * 700, range(700), [0, 350, 699], total=1400 + 301)
    assert [sum(wide.row(index)) for index in range(3)] == [1701] * 3


@pytest.mark.parametrize(("inputs", "margin"), [(1, 0), (3, 0), (3, 1), (2, 4)])
def test_a_profile_adds_its_offset_and_clips_at_the_margins(inputs: int, margin: int) -> None:
    reach = inputs - 1 + margin
    weights = [3 + step % 4 for step in range(2 * reach + 4)]
    channel = Profile(weights, first=-reach - 1, inputs=inputs, margin=margin)
    assert channel.outputs == inputs + 2 * margin
    for index in range(inputs):
        row = [0] * channel.outputs
        for offset, weight in enumerate(weights, start=-reach - 1):
            row[min(max(index + margin + offset, 0), channel.outputs - 1)] += weight
        assert list(channel.row(index)) == row


@settings(max_examples=60)
@given(st.data())
def test_tables_have_their_ratio_and_law(data: st.DataObject) -> None:
    outputs = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(st.integers(0, 9), min_size=outputs, max_size=outputs).filter(any), min_size=1, max_size=4))
    table = level_rows(rows, total=40)
    assert table.max_ratio() == column_ratio(table)
    assert {sum(row) for row in table.rows} == {40}
    assert exact_law(lambda coins: table.draw(0, coins)) == {y: Fraction(w, 40) for y, w in enumerate(table.rows[0]) if w}


@given(st.lists(st.integers(1, 50), min_size=3, max_size=9))
def test_delta_of_a_log_concave_profile_is_the_worst_over_all_pairs(half: list[int]) -> None:
    channel = symmetric(sorted(half, reverse=True), inputs=len(half) - 1, margin=1)
    if not channel.log_concave():
        with pytest.raises(InvalidParameter, match="log-concave"):
            channel.delta(Fraction(2))
        return
    rows = [list(channel.row(index)) for index in range(channel.inputs)]
    worst = max(sum(max(Fraction(0), a - 2 * Fraction(b)) for a, b in zip(x, z, strict=True)) for x in rows for z in rows)
    assert channel.delta(Fraction(2)) == worst / channel.total


def test_delta_is_refused_where_one_ratio_of_neighbours_grows() -> None:
    bent = Profile([1, 4, 6, 4, 3, 3, 1], first=-3, inputs=2)
    assert not bent.log_concave()
    with pytest.raises(InvalidParameter, match="log-concave"):
        bent.delta(Fraction(2))


def test_weights_for_an_epsilon_are_the_largest_allowed() -> None:
    for sets in SETS:
        channel = TwoLevel.at(sets, Epsilon(1))
        assert Epsilon(1).allows(channel.max_ratio())
        assert not Epsilon(1).allows(Fraction(channel.high + 1, channel.low))
    reference = Reference.at([30, 10, 10, 30], Epsilon(1), [0, 1, 2, 3], [0, 3], total=120)
    assert reference.high == (81, 27, 27, 81)


@pytest.mark.parametrize(
    "build",
    [
        lambda: TwoLevel(Singleton(3), low=0, high=1),
        lambda: TwoLevel(Singleton(3), low=2, high=1),
        lambda: Table([]),
        lambda: Table([[1, 2], [3]]),
        lambda: Table([[1, 2], [1, 1]]),
        lambda: Table([[0, 0]]),
        lambda: Table([[2, -1]]),
        lambda: Bits(3, own=4, other=1, scale=4),
        lambda: Bits(3, own=1, other=2, scale=4),
        lambda: Bits(1, own=2, other=1, scale=4),
        lambda: Bits((1 << 20) + 1, own=2, other=1, scale=4),
        lambda: Nested(5, widths=[3, 1], weights=[3, 2, 1]),
        lambda: Nested(5, widths=[5], weights=[3, 2]),
        lambda: Nested(5, widths=[1], weights=[3, 0]),
        lambda: Nested(5, widths=[], weights=[3]),
        lambda: Profile([1, 1], first=0, inputs=3),
        lambda: Profile([1, 1, 1], first=0, inputs=2, wrap=True),
        lambda: Profile([], first=0, inputs=1),
        lambda: Reference([1, 1], [2, 2], [0, 0], [0], total=3),
        lambda: Reference([1, 1], [2, 2], [0, 1], [0], total=4),
        lambda: Mixture([Table([[1]]), Identity(2)], shares=[1, 1]),
        lambda: Mixture([Identity(2)], shares=[0]),
        lambda: Chain(Identity(2), Identity(3)),
    ],
)
def test_impossible_channels_are_refused(build: object) -> None:
    with pytest.raises(InvalidParameter):
        build()  # type: ignore[operator]


@pytest.mark.parametrize("channel", CHANNELS, ids=name_of)
def test_what_a_channel_says_about_itself_agrees_with_its_weights(channel: Channel) -> None:
    possible = [output for output in range(channel.outputs) if channel.possible(output)]
    assert channel.occurring == len(possible)
    assert sum(share for _, share, _ in channel.alternatives) in (0, 1)
    for index in range(channel.inputs):
        row = list(channel.row(index))
        layers = channel.layers()
        if layers is not None:
            heights = [
                layers.base + sum(height for window, height in layers.windows if window.contains(index, output))
                for output in range(channel.outputs)
            ]
            assert heights == row
        if channel.wraps:
            before = list(channel.row(index - 1 if index else channel.inputs - 1))
            assert row == [before[-1], *before[:-1]]
        if channel.between is not None and index % channel.between[1] == 0:
            inner, steps = channel.between
            assert row == [steps * weight for weight in inner.row(index // steps)]
        for start, share, part in channel.alternatives:
            assert [Fraction(weight, channel.total) for weight in row[start : start + part.outputs]] == [
                share * Fraction(weight, part.total) for weight in part.row(index)
            ]
        for output in range(channel.outputs):
            digits = channel.split_output(output)
            assert len(digits) == max(1, len(channel.side_by_side), getattr(channel, "length", 1)) or channel.chained


@pytest.mark.parametrize("channel", [c for c in CHANNELS if c.support() is not None and c.buckets is None], ids=name_of)
def test_what_supports_a_value_has_the_chances_it_says(channel: Channel) -> None:
    support = channel.support()
    assert support is not None

    def chance(index: int, *values: int) -> Fraction:
        rows = enumerate(channel.row(index))
        weight = sum(weight for output, weight in rows if all(channel.supports(value, output) for value in values))
        return Fraction(weight, channel.total)

    own, other = support
    assert {chance(index, index) for index in range(channel.inputs)} == {own}
    pairs = [(x, v) for x in range(channel.inputs) for v in range(channel.inputs) if x != v]
    assert {chance(x, v) for x, v in pairs} == {other}
    together, apart = channel.joint_support()
    assert {chance(x, x, v) for x, v in pairs} == {together}
    others = {chance(x, v, w) for x, v in pairs for w in range(channel.inputs) if w not in (x, v)}
    assert others <= {together, apart}


PAIRS = TwoLevel(Subsets(4, 2), 1, 3)
GAP = Table([[1, 0, 2], [2, 0, 1]])


@pytest.mark.parametrize(
    "channel",
    [
        PAIRS,
        GAP,
        Product([PAIRS, GAP]),
        Mixture([PAIRS, PAIRS], [1, 2]),
        Interpolated(GAP, 3),
        Field((2, 2), 1, GAP),
        Steps(GAP, 2),
    ],
    ids=name_of,
)
def test_outputs_that_never_occur_are_known(channel: Channel) -> None:
    seen = [output for output in range(channel.outputs) if any(channel.weight(x, output) for x in range(channel.inputs))]
    assert seen == [output for output in range(channel.outputs) if channel.possible(output)]
    assert channel.occurring == len(seen) < channel.outputs
