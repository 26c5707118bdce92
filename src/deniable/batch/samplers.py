"""Which sampler draws which channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.batch.bits import BitsSampler
from deniable.batch.composed import IdentitySampler, InterpolatedSampler, MixtureSampler, ScalarSampler
from deniable.batch.fake_data import FakeDataSampler, ReadingSampler
from deniable.batch.hadamard import HadamardSampler
from deniable.batch.hashing import HashingSampler
from deniable.batch.kept import LastFew
from deniable.batch.nearest import NearestSampler
from deniable.batch.nearest_codes import NearestCodesSampler
from deniable.batch.nearest_places import NearestPlacesSampler
from deniable.batch.nested import NestedSampler
from deniable.batch.padded import HittingSampler, PickedItemSampler, SignedBitsSampler
from deniable.batch.projective import ProjectiveSampler
from deniable.batch.ranked import RankedSampler
from deniable.batch.reference import ReferenceSampler
from deniable.batch.sampler import Sampler, TooWide
from deniable.batch.steps_sampler import DirectionDistanceSampler, StepsSampler
from deniable.batch.subsets import SubsetsSampler
from deniable.batch.tables import ProfileSampler, TableSampler
from deniable.batch.wide_hashing import SketchSignsSampler, WideHashingSampler
from deniable.batch.windows import WindowSampler
from deniable.core import (
    Bits,
    Channel,
    DigitReader,
    DirectionDistance,
    FakeData,
    Field,
    Hadamard,
    Hashing,
    Hitting,
    Identity,
    Interpolated,
    Mixture,
    NearestCellSets,
    NearestCodeSets,
    NearestPlaceSets,
    Nested,
    PickedItem,
    Profile,
    Projective,
    Ranked,
    Reference,
    SeveralDigits,
    SignedBits,
    Singleton,
    SketchSigns,
    Steps,
    Subsets,
    Table,
    TwoLevel,
    WideHashing,
    Windows,
)

_SETS: dict[type, Callable[[TwoLevel, Any], Sampler]] = {
    Singleton: lambda channel, _: WindowSampler(channel),
    Windows: lambda channel, _: WindowSampler(channel),
    Hadamard: HadamardSampler,
    Hashing: HashingSampler,
    WideHashing: WideHashingSampler,
    SketchSigns: SketchSignsSampler,
    Projective: ProjectiveSampler,
    Subsets: SubsetsSampler,
    Hitting: HittingSampler,
    NearestCellSets: NearestSampler,
    NearestPlaceSets: NearestPlacesSampler,
    NearestCodeSets: NearestCodesSampler,
}
_CHANNELS: dict[type, Callable[[Any], Sampler]] = {
    Bits: BitsSampler,
    Table: TableSampler,
    Profile: ProfileSampler,
    Reference: ReferenceSampler,
    Nested: NestedSampler,
    Identity: IdentitySampler,
    FakeData: FakeDataSampler,
    DirectionDistance: DirectionDistanceSampler,
    Ranked: RankedSampler,
    SignedBits: SignedBitsSampler,
}


def sampler_for(channel: Channel) -> Sampler:
    """The fastest sampler that draws exactly this channel; the same one again for the same channel object.

    Only exact types count: a subclass may have another law, so it gets the scalar path.
    """
    return _SAMPLERS(channel)


def _build(channel: Channel) -> Sampler:
    try:
        if type(channel) is TwoLevel and type(channel.sets) in _SETS:
            return _SETS[type(channel.sets)](channel, channel.sets)
        if type(channel) is Interpolated:
            return InterpolatedSampler(channel, _build(channel.inner))
        if type(channel) is Mixture:
            return MixtureSampler(channel, [_build(part) for part in channel.parts])
        if type(channel) is Steps:
            return StepsSampler(channel, _build)
        if isinstance(channel, DigitReader) and type(channel) in (Field, SeveralDigits):
            return ReadingSampler(channel, _build(channel.inner))
        if type(channel) is PickedItem:
            return PickedItemSampler(channel, _build(channel.inner))
        if type(channel) in _CHANNELS:
            return _CHANNELS[type(channel)](channel)
    except TooWide:
        pass
    return ScalarSampler(channel)


_SAMPLERS: LastFew[Channel, Sampler] = LastFew(lambda channel: _build(channel))
