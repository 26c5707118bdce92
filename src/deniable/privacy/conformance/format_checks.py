"""Do recipes, reports and encodings survive the round trip, and is everything else refused?"""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np

from deniable import batch, core
from deniable.core import (
    Channel,
    Circle,
    Interval,
    Mechanism,
    Record,
    Report,
    canonical_json,
    mechanism_from_recipe,
    undigits,
)
from deniable.errors import InvalidParameter, NotSupported, OutOfDomain, WireError
from deniable.privacy.conformance.coins import FixedCoins
from deniable.privacy.conformance.keystream import FixedKeystream
from deniable.privacy.conformance.outcome import Skip, require
from deniable.privacy.conformance.privacy_checks import some_outputs
from deniable.privacy.conformance.values import awkward_values, bad_values, few_values

MOST_FLIPS = 400


def check_recipe_round_trip(mechanism: Mechanism) -> Skip | None:
    """The recipe, through JSON, gives an equal mechanism with the same fingerprint; so does a pickle."""
    text = canonical_json(mechanism.recipe())
    again = mechanism_from_recipe(json.loads(text), allow_large=True)
    require(type(again) is type(mechanism), "the recipe gives a mechanism of another class")
    require(again == mechanism, "the recipe gives a mechanism that is not equal")
    require(again.fingerprint == mechanism.fingerprint, "the recipe gives another fingerprint")
    require(canonical_json(again.recipe()) == text, "the recipe of the recipe differs")
    copied = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - made one line above
    require(copied == mechanism and copied.fingerprint == mechanism.fingerprint, "a pickle gives another mechanism")
    require(hash(again) == hash(mechanism), "equal mechanisms have different hashes")
    recipe = json.loads(text)
    recipe["parameters"]["unknown"] = 1
    _must_refuse(lambda: mechanism_from_recipe(recipe), InvalidParameter, "a recipe with an unknown parameter")
    return None


def check_wire_round_trip(mechanism: Mechanism) -> Skip | None:
    """Reports survive bytes and JSON unchanged; every tested output has exactly one encoding."""
    for output in _possible_outputs(mechanism):
        report = Report(mechanism.fingerprint, output)
        require(core.decode_report(mechanism, core.encode_report(mechanism, report)) == report, "bytes change a report")
        require(core.report_from_json(mechanism, core.report_to_json(mechanism, report)) == report, "JSON changes a report")
    return None


def check_wire_is_strict(mechanism: Mechanism) -> Skip | None:
    """Truncated, extended and padded bytes and outputs out of range are refused; no two encodings of one report."""
    outputs = _possible_outputs(mechanism)
    for output in {outputs[0], outputs[-1]}:
        report = Report(mechanism.fingerprint, output)
        data = core.encode_report(mechanism, report)
        for broken in (data[:-1], data[1:], data + b"\0", b"\0" + data, b"", data * 2):
            _must_refuse(lambda broken=broken: core.decode_report(mechanism, broken), WireError, "bytes of the wrong length")
        bits = 8 * len(data)
        for flip in range(bits) if bits <= MOST_FLIPS else [*range(MOST_FLIPS // 2), *range(bits - MOST_FLIPS // 2, bits)]:
            changed = bytearray(data)
            changed[flip // 8] ^= 0x80 >> flip % 8
            _one_meaning(mechanism, bytes(changed), report)
    for output in (mechanism.channel.outputs, -1):
        stray = Report(mechanism.fingerprint, output)
        _must_refuse(lambda stray=stray: core.encode_report(mechanism, stray), WireError, "an output out of range")
        _must_refuse(lambda stray=stray: core.report_to_json(mechanism, stray), WireError, "an output out of range")
    other = Report("0" * len(mechanism.fingerprint), outputs[0])
    _must_refuse(lambda: core.encode_report(mechanism, other), WireError, "a report of another recipe")
    return None


def _one_meaning(mechanism: Mechanism, data: bytes, original: Report) -> None:
    """Changed bytes are refused, or are the one encoding of another report."""
    try:
        report = core.decode_report(mechanism, data)
    except WireError:
        return
    require(report != original, "two encodings of one report: unused bits are not checked")
    require(core.encode_report(mechanism, report) == data, "bytes were read that would not be written")
    require(0 <= report.output < mechanism.channel.outputs, "an output out of range was read")


def _must_refuse(action: Any, error: type[Exception], what: str) -> None:
    try:
        action()
    except error:
        return
    require(False, f"{what} was accepted")


def _possible_outputs(mechanism: Mechanism) -> list[int]:
    channel = mechanism.channel
    return [output for output in some_outputs(channel, most=40) if channel.weight(0, output) > 0]


def check_decoded_values_are_of_the_domain(mechanism: Mechanism) -> Skip | None:
    """Reading an output gives a finite number for numeric domains, and never fails."""
    coins = FixedCoins(5)
    outputs = [mechanism.randomize(value, coins).output for value in few_values(mechanism.domain) for _ in range(20)]
    try:
        values = [mechanism.decode(output) for output in outputs]
    except NotSupported as why:
        return Skip(f"single outputs are not read: {why}")
    if isinstance(mechanism.domain, Interval | Circle):
        require(all(type(value) is float and math.isfinite(value) for value in values), "a number was read as something else")
    require(all(value is not None for value in values), "an output was read as nothing")
    return None


def check_batch_encodes_alike(mechanism: Mechanism) -> Skip | None:
    """encode_many gives the indices that encode gives, cell boundaries and their neighbours included."""
    values = awkward_values(mechanism.domain)
    many = _joined(mechanism.channel, batch.encode_many(mechanism, values))
    single = [mechanism.encode(value) for value in values]
    wrong = sum(a != b for a, b in zip(many, single, strict=True))
    require(not wrong, f"encode_many and encode disagree on {wrong} of {len(values)} values")
    return None


def _joined(channel: Channel, columns: Any) -> list[int]:
    """Inputs as the integers the scalar path uses."""
    side_by_side = channel.side_by_side
    if not side_by_side:
        return [int(index) for index in columns]
    parts = [_joined(part, column) for part, column in zip(side_by_side, columns, strict=True)]
    return [undigits(row, [part.inputs for part in side_by_side]) for row in zip(*parts, strict=True)]


def check_batch_decodes_alike(mechanism: Mechanism) -> Skip | None:
    """Reports.values() gives the values that decode gives (to the last few bits of a double)."""
    reports = batch.randomize_many(mechanism, few_values(mechanism.domain) * 20, FixedKeystream(3))
    try:
        single = [mechanism.decode(output) for output in reports.ints()]
        many = reports.values()
    except NotSupported as why:
        return Skip(f"single outputs are not read: {why}")
    if isinstance(mechanism.domain, Record):
        many = [dict(zip(many, row, strict=True)) for row in zip(*many.values(), strict=True)]
    require(len(many) == len(reports) == len(single), "another number of values was read")
    require(all(_alike(a, b, mechanism.domain) for a, b in zip(many, single, strict=True)), "a batch is read differently")
    return None


def _alike(first: Any, second: Any, domain: Any) -> bool:
    if isinstance(second, dict) and isinstance(domain, Record):
        return all(_alike(first[name], second[name], domain.fields[name]) for name in domain.fields)
    if isinstance(second, float) and isinstance(domain, Interval | Circle):
        low, width = float(domain.low), float(domain.width)
        apart = abs(float(first) - second)
        apart = min(apart, abs(width - apart)) if isinstance(domain, Circle) else apart
        return apart <= 1e-12 * (abs(low) + width + abs(second))
    return bool(np.all(first == second))


def check_batch_refuses_values_outside(mechanism: Mechanism) -> Skip | None:
    """One value outside the domain among good ones is refused by the batch path as well."""
    good = few_values(mechanism.domain)
    numbers = [bad for bad in bad_values(mechanism.domain) if type(bad) in (int, float)]
    if not numbers:
        return Skip("the domain has no plain numbers")
    for bad in numbers:
        if type(bad) is int and abs(bad) >= 1 << 62:
            continue
        _must_refuse(lambda bad=bad: batch.encode_many(mechanism, [*good, bad]), OutOfDomain, "a value outside the domain")
    return None
