"""Is the privacy claim exact? Checks on the weights alone."""

from __future__ import annotations

from fractions import Fraction

from deniable.core import Channel, Mechanism, column_ratio
from deniable.errors import NotSupported
from deniable.privacy.conformance.coins import FixedCoins
from deniable.privacy.conformance.outcome import Skip, require

MOST_WEIGHTS = 60_000


def some_inputs(channel: Channel, *, most: int = 12) -> list[int]:
    """Both ends, their neighbours and a few fixed others (all of them, when there are few)."""
    if channel.inputs <= most:
        return list(range(channel.inputs))
    coins = FixedCoins(channel.inputs)
    ends = {0, 1, channel.inputs // 2, channel.inputs - 2, channel.inputs - 1}
    return sorted(ends | {coins.below(channel.inputs) for _ in range(most - len(ends))})


def some_outputs(channel: Channel, *, most: int = 100) -> list[int]:
    """Possible outputs: the ends, and what every tested input draws now and then."""
    if channel.outputs <= most:
        return list(range(channel.outputs))
    coins = FixedCoins(channel.inputs)
    inputs = some_inputs(channel)
    drawn = {channel.draw(inputs[j % len(inputs)], coins) for j in range(most)}
    return sorted(output for output in {0, channel.outputs - 1} | drawn if 0 <= output < channel.outputs)


def _small(channel: Channel) -> bool:
    return channel.inputs * channel.outputs <= MOST_WEIGHTS


def check_certificate_holds(mechanism: Mechanism) -> Skip | None:
    """The certificate's inequality between integers holds, and agrees with the channel."""
    certificate = mechanism.certificate()
    require(certificate.holds, f"the certificate does not hold: {certificate.inequality}")
    require(certificate.ratio == mechanism.channel.max_ratio(), "the certificate's ratio is not the channel's")
    require(certificate.epsilon == mechanism.privacy, "the certificate is about another epsilon")
    if mechanism.promise is not None:
        require(mechanism.promise.holds(mechanism.channel), "some pair of values exceeds its level")
        require(mechanism.privacy == mechanism.promise.largest, "epsilon is not the largest level that is promised")
    if mechanism.delta == 0 and mechanism.protects_all:
        ratio = certificate.ratio
        require(ratio is not None and mechanism.privacy.allows(ratio), "the largest ratio exceeds e**epsilon")
    return None


def check_ratio_is_exact(mechanism: Mechanism) -> Skip | None:
    """max_ratio is what one finds by looking at every weight."""
    channel = mechanism.channel
    if not _small(channel):
        return Skip(f"more than {MOST_WEIGHTS} weights; check_sampled_ratios looks at some of them")
    claimed, actual = channel.max_ratio(), column_ratio(channel)
    require(claimed == actual, f"max_ratio says {claimed}, the weights say {actual}")
    return None


def check_sampled_ratios(mechanism: Mechanism) -> Skip | None:
    """No pair of inputs among a few has a larger ratio than max_ratio says."""
    channel = mechanism.channel
    claimed = channel.max_ratio()
    if claimed is None:
        return Skip("the ratio is unbounded, as the recipe says: the claim is about delta, or about some pairs of values")
    inputs = some_inputs(channel)
    for output in some_outputs(channel):
        weights = [channel.weight(index, output) for index in inputs]
        if max(weights) > 0:
            require(min(weights) > 0, "an output is possible for some inputs only")
            require(Fraction(max(weights), min(weights)) <= claimed, f"a ratio exceeds the claimed {claimed}")
    return None


def check_delta_covers_the_weights(mechanism: Mechanism) -> Skip | None:
    """For (epsilon, delta) claims: delta, added up over every pair of inputs, is at most what is claimed."""
    channel = mechanism.channel
    if mechanism.delta == 0:
        return Skip("a pure claim has no delta")
    if channel.inputs * channel.inputs * channel.outputs > 40 * MOST_WEIGHTS:
        return Skip("too many weights to try every pair")
    ratio = mechanism.privacy.bounds()[1]
    rows = [list(channel.row(index)) for index in range(channel.inputs)]
    top, bottom = ratio.numerator, ratio.denominator
    worst = max(sum(max(0, a * bottom - top * b) for a, b in zip(first, second, strict=True)) for first in rows for second in rows)
    delta = Fraction(worst, bottom * channel.total)
    require(delta <= mechanism.delta_exact(), f"delta is at least {float(delta):.6g}, the mechanism computes less")
    require(delta <= mechanism.delta, f"delta is at least {float(delta):.6g}, the recipe claims less")
    return None


def check_rows_sum_to_total(mechanism: Mechanism) -> Skip | None:
    """Every tested row of weights has the same sum, and runs of outputs weigh what their cells weigh."""
    channel = mechanism.channel
    try:
        for index in some_inputs(channel, most=6):
            require(channel.mass(index, 0, channel.outputs) == channel.total, "a row does not sum to the total")
    except NotSupported as why:
        return Skip(f"{why}; the law of such outputs is tested by structure")
    inputs = some_inputs(channel, most=6)
    for output in some_outputs(channel):
        for index in inputs:
            weight = channel.weight(index, output)
            require(weight >= 0, "a weight is negative")
            require(weight == channel.mass(index, output, output + 1), "weight() and the running sums disagree")
    return None


def check_reachable_outputs_are_the_same(mechanism: Mechanism) -> Skip | None:
    """An output that is possible for one input is possible for all."""
    channel = mechanism.channel
    if not mechanism.protects_all:
        return Skip("some values have no promise: a report may show them")
    if mechanism.delta > 0:
        return Skip("with delta > 0 some outputs may be reachable from some inputs only")
    inputs = range(channel.inputs) if _small(channel) else some_inputs(channel)
    outputs = range(channel.outputs) if _small(channel) else some_outputs(channel)
    for output in outputs:
        possible = {channel.weight(index, output) > 0 for index in inputs}
        require(len(possible) == 1, "an output is possible for some inputs only")
    return None
