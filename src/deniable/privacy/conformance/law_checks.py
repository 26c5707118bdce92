"""Do draws follow the law? Exactly where the sampler allows it, by statistics elsewhere, on fixed coins."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from deniable import batch
from deniable.core import Mechanism
from deniable.privacy.conformance.coins import CountingCoins, FixedCoins, ScriptedCoins
from deniable.privacy.conformance.keystream import FixedKeystream
from deniable.privacy.conformance.law_statistics import tails
from deniable.privacy.conformance.outcome import Skip, require
from deniable.privacy.conformance.statistics import alarms
from deniable.privacy.conformance.values import few_values

WALKED = 300


def scalar_draws(mechanism: Mechanism) -> int:
    """How many scalar draws per value are worth their time."""
    return max(300, min(5000, 20_000 // mechanism.channel.effort))


def batch_draws(mechanism: Mechanism) -> int:
    """How many batch draws per value are worth their time."""
    return max(1000, min(65_000, 400_000 // mechanism.channel.effort))


@lru_cache(maxsize=8)  # public test values, drawn once for the two checks that look at them
def scalar_outputs(mechanism: Mechanism, which: int) -> tuple[int, ...]:
    """Outputs for one of the few values through the front door, on fixed coins."""
    value, coins = few_values(mechanism.domain)[which], FixedCoins(which)
    return tuple(mechanism.randomize(value, coins).output for _ in range(scalar_draws(mechanism)))


def batch_outputs(mechanism: Mechanism, which: int) -> tuple[int, ...]:
    """Outputs for one of the few values through the batch kernels, on a fixed keystream."""
    one = batch.encode_many(mechanism, [few_values(mechanism.domain)[which]])
    many = _repeated(one, batch_draws(mechanism))
    return tuple(batch.output_ints(mechanism.channel, batch.draw_many(mechanism.channel, many, FixedKeystream(which))))


def _repeated(inputs: Any, count: int) -> Any:
    """The same input again and again; a record has one array per part."""
    return tuple(_repeated(part, count) for part in inputs) if isinstance(inputs, tuple) else np.repeat(inputs, count)


def _follow(mechanism: Mechanism, draw: Callable[[Mechanism, int], tuple[int, ...]], how: str) -> Skip | None:
    chances = []
    for which, value in enumerate(few_values(mechanism.domain)):
        index = mechanism.encode(value)
        chances += [(f"input {index}: {name}", tail) for name, tail in tails(mechanism.channel, index, draw(mechanism, which))]
    if not chances:
        return Skip("no statistic is known for this channel")
    alarmed = alarms(chances)
    require(not alarmed, f"{how} draws do not follow the law: {'; '.join(alarmed[:3])}")
    return None


def check_scalar_draws_follow_the_law(mechanism: Mechanism) -> Skip | None:
    """Outputs of randomize(), a few values each, against the exact weights. False alarms: 1e-6."""
    return _follow(mechanism, scalar_outputs, "scalar")


def check_batch_draws_follow_the_law(mechanism: Mechanism) -> Skip | None:
    """Outputs of the batch kernels, a few values each, against the exact weights. False alarms: 1e-6."""
    return _follow(mechanism, batch_outputs, "batch")


def check_every_output_bit_is_randomised(mechanism: Mechanism) -> Skip | None:
    """A bit of the output that one input shows now and then is shown by every input now and then.

    Knows nothing of the channel: if an input shows a bit's value c times in n draws, privacy asks every
    other input for about c / e**epsilon of them. False alarms: 1e-6.
    """
    if not mechanism.protects_all:
        return Skip("some values have no promise: a report may show them")
    if mechanism.delta > 0:
        return Skip("with delta > 0 an output may betray its input now and then")
    drawn = [scalar_outputs(mechanism, which) for which in range(len(few_values(mechanism.domain)))]
    require(all(output >= 0 for outputs in drawn for output in outputs), "an output is negative")
    return every_bit(drawn, float(mechanism.privacy))


def every_bit(drawn: Sequence[Sequence[int]], epsilon: float) -> Skip | None:
    """The same for any lists of outputs, one list of equal length per input."""
    width = max(output for outputs in drawn for output in outputs).bit_length()
    draws, decided = len(drawn[0]), 0
    # Forty expected: half of them could be the luck of the other input, and the rest still miss with chance e**-20.
    enough = 40 * math.exp(epsilon)
    for bit in range(width):
        ones = [sum(output >> bit & 1 for output in outputs) for outputs in drawn]
        for shown in (ones, [draws - count for count in ones]):
            if max(shown) >= enough:
                decided += 1
                require(min(shown) > 0, f"bit {bit} of the output is not randomised for every input")
    return None if decided else Skip(f"{draws} draws cannot decide at epsilon {epsilon:g}; the law check looks at every bit")


def check_draws_are_exact(mechanism: Mechanism) -> Skip | None:
    """Where a draw asks for one uniform integer: each output owns exactly its weight of those integers.

    Integers that give one output lie side by side; the ends of such runs are found and measured. No
    statistics, hence no false alarm, and a fault of a single unit is seen.
    """
    channel = mechanism.channel
    for value in few_values(mechanism.domain):
        index = mechanism.encode(value)
        coins = CountingCoins(FixedCoins())
        mechanism.randomize(value, coins)
        if len(coins.asked) != 1:
            return Skip(f"a draw asks for {len(coins.asked)} integers; statistics look at it instead")
        size = coins.asked[0]
        require(size % channel.total == 0, "the integer drawn is not below a multiple of the total: some draws are too likely")
        _walk(mechanism, value, index, size)
    return None


def _walk(mechanism: Mechanism, value: Any, index: int, size: int) -> None:
    """Measure runs one after the other: all of them when there are few, else stretches here and there."""
    channel, unit = mechanism.channel, size // mechanism.channel.total

    def at(drawn: int) -> int:
        return mechanism.randomize(value, ScriptedCoins([drawn])).output

    met: Counter[int] = Counter()
    whole = channel.outputs <= WALKED
    coins = FixedCoins(7)
    starts = [0] if whole else [0, *(_first_of_run(at, coins.below(size)) for _ in range(6))]
    for start in starts:
        drawn = start
        for _ in range(WALKED if whole else max(3, WALKED // (10 * channel.effort))):
            if drawn >= size:
                break
            output = at(drawn)
            require(0 <= output < channel.outputs, "an output that the channel does not have")
            weight = channel.weight(index, output) * unit
            require(weight > 0, "an output of weight 0 is drawn")
            end = drawn + weight
            require(end <= size, "an output owns fewer of the integers drawn than its weight says")
            inside = (end - 1, (drawn + end) // 2, drawn + coins.below(weight))
            require(all(at(d) == output for d in inside), "an output owns fewer of the integers drawn than its weight says")
            require(end == size or at(end) != output, "an output owns more of the integers drawn than its weight says")
            met[output] += 1
            drawn = end
    if whole:
        require(max(met.values()) == 1, "the integers of an output do not lie side by side")
        possible = {output for output in range(channel.outputs) if channel.weight(index, output) > 0}
        require(set(met) == possible, "an output with positive weight is never drawn")


def _first_of_run(at: Callable[[int], int], drawn: int) -> int:
    """The first of the neighbouring integers that give the same output as this one."""
    output, step = at(drawn), 1
    while step <= drawn and at(drawn - step) == output:
        step *= 2
    inside, outside = step // 2, min(step, drawn + 1)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if at(drawn - middle) == output else (inside, middle)
    return drawn - inside
