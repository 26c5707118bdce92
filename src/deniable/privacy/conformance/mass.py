"""How much weight a run of neighbouring outputs has, without looking at each of a million cells."""

from __future__ import annotations

from functools import singledispatch

from deniable.core import Channel, Interpolated, Mixture, Nested, Profile, Reference, Singleton, Table, TwoLevel, Windows
from deniable.errors import NotSupported

MOST_ENUMERATED = 1 << 17


@singledispatch
def mass(channel: Channel, index: int, start: int, stop: int) -> int:
    """The weight of outputs start … stop-1 for an input; by enumeration unless a kind knows better."""
    if stop - start > MOST_ENUMERATED:
        raise NotSupported(f"{type(channel).__name__} has too many outputs to add up one by one")
    return sum(channel.weight(index, output) for output in range(start, stop))


@mass.register
def _(channel: TwoLevel, index: int, start: int, stop: int) -> int:
    sets = channel.sets
    if isinstance(sets, Singleton):
        favoured = int(start <= index < stop)
    elif isinstance(sets, Windows):
        begin = sets.start(index)
        favoured = _overlap(begin, begin + sets.members, start, stop)
        favoured += _overlap(begin - sets.outputs, begin + sets.members - sets.outputs, start, stop)
    else:
        return mass.dispatch(Channel)(channel, index, start, stop)
    return favoured * channel.high + (stop - start - favoured) * channel.low


@mass.register
def _(channel: Nested, index: int, start: int, stop: int) -> int:
    covered = [_overlap(*channel.span(index, j), start, stop) for j in range(len(channel.weights))]
    rings = [now - before for before, now in zip([0, *covered], covered, strict=False)]
    return sum(ring * weight for ring, weight in zip(rings, channel.weights, strict=True))


@mass.register
def _(channel: Profile, index: int, start: int, stop: int) -> int:
    if channel.wrap:
        begin = (start - index - channel.first) % channel.inputs
        end = begin + stop - start
        turns, rest = divmod(end, channel.inputs)
        return turns * channel.total + _first(channel, rest) - _first(channel, begin)
    shift = index + channel.margin + channel.first
    low = 0 if start == 0 else _first(channel, start - shift)
    high = channel.total if stop == channel.outputs else _first(channel, stop - shift)
    return high - low if start < stop else 0


@mass.register
def _(channel: Reference, index: int, start: int, stop: int) -> int:
    return channel.cumulative(index, stop) - channel.cumulative(index, start)


@mass.register
def _(channel: Table, index: int, start: int, stop: int) -> int:
    return sum(channel.rows[index][start:stop])


@mass.register
def _(channel: Interpolated, index: int, start: int, stop: int) -> int:
    row, rest = divmod(index, channel.steps)
    lower = (channel.steps - rest) * mass(channel.inner, row, start, stop)
    return lower + rest * mass(channel.inner, row + 1, start, stop) if rest else lower


@mass.register
def _(channel: Mixture, index: int, start: int, stop: int) -> int:
    total = 0
    for begin, part, share in zip(channel.starts, channel.parts, channel.shares, strict=True):
        low, high = max(start - begin, 0), min(stop - begin, part.outputs)
        if low < high:
            total += share * (channel.common // part.total) * mass(part, index, low, high)
    return total


def _overlap(begin: int, end: int, start: int, stop: int) -> int:
    """How many numbers two runs share."""
    return max(0, min(end, stop) - max(begin, start))


def _first(channel: Profile, count: int) -> int:
    """The weight of the first `count` offsets."""
    return 0 if count <= 0 else channel.cumulative[min(count, len(channel.weights)) - 1]
