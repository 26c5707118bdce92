"""RAPPOR: bits drawn once and kept for life, and a fresh layer of noise on every report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.core.channels.bits import Bits
from deniable.core.domains.categories import Categories
from deniable.core.exact.epsilon import Epsilon, EpsilonLike
from deniable.core.exact.exponential import exp_bounds, log_float
from deniable.core.exact.numbers import Number, as_fraction
from deniable.core.mechanisms.categorical._unary import UnaryMechanism, truthful_weight
from deniable.core.randomness.coins import SYSTEM, Coins
from deniable.core.reports.report import Report
from deniable.errors import InvalidParameter

LAYER = 1 << 30
"""Chances in either layer are whole multiples of 2**-30, so a report's are multiples of 2**-60: a machine word."""
LEAST_GAP = 1 << 10
"""With fewer units between the two chances of the second layer, rounding would take a thousandth of it or more."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Rappor(UnaryMechanism):
    """One bit per category, randomised twice: once for life, then again for every report.

    Law: a bit is kept for life as it is with probability `kept`/2**30, else flipped. A kept 1 is reported as
    1 with probability `ones`/2**30, a kept 0 with `zeros`/2**30. One report by itself is again a row of
    independent bits, whose exact chances are the two layers multiplied out.
    Guarantee: one report is `epsilon`-LDP (the certificate). All reports of one value together, however
    many, are `permanent`-LDP, provided the first layer is drawn once and kept (`deniable.surveys.Memo`):
    the rest is post-processing. m reports are at `level_of(m)`. A value that changes gets bits of its own,
    and their levels add up between people who change at the same times: `permanent` for every different value. When
    somebody changed is not hidden; `KeptAnswer` works out what that costs.
    `false_ones` is p in the paper, how often a kept 0 is reported as 1; left out, as often as a 1 as 0.
    Cost: k draws, k bits on the wire.
    Source: Erlingsson, Pihur and Korolova, "RAPPOR", 2014 (with one hash function per category: no Bloom filter).

    >>> mechanism = Rappor(domain=Categories(20), epsilon=1, permanent=3)
    >>> mechanism.certificate().holds, mechanism.level_of(1) <= 1, mechanism.level_of(1000) <= 3
    (True, True, True)
    """

    permanent: EpsilonLike = None  # type: ignore[assignment]
    false_ones: Number | None = None
    name: ClassVar[str] = "rappor"
    source: ClassVar[str] = "Erlingsson, Pihur, Korolova 2014"

    def __post_init__(self) -> None:
        super().__post_init__()
        lifetime = self.privacy.times(Fraction(2)) if self.permanent is None else Epsilon(self.permanent)
        object.__setattr__(self, "permanent", lifetime)
        if not self.privacy < lifetime:
            raise InvalidParameter("permanent must be above epsilon: a lifetime of reports tells more than a single one")
        if self.false_ones is not None:
            share = as_fraction(self.false_ones)
            if share is None or not 0 < share < 1 or (share * LAYER).denominator != 1:
                raise InvalidParameter("false_ones must lie between 0 and 1 and be a multiple of 2**-30, for example 0.5")
            object.__setattr__(self, "false_ones", share)
        _ = self.ones  # refuses levels that two layers of 2**-30 cannot hold

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any], *, allow_large: bool = False) -> Self:
        """Rebuild; the lifetime level is held to the same bound as epsilon."""
        parameters = dict(recipe["parameters"])
        if "permanent" in parameters:
            parameters["permanent"] = Epsilon(parameters["permanent"], allow_large=allow_large)
        return super().from_recipe({**recipe, "parameters": parameters}, allow_large=allow_large)

    @property
    def lifetime(self) -> Fraction:
        """`permanent` as the exact number it is: the level of all reports of one value."""
        assert isinstance(self.permanent, Epsilon)
        return self.permanent.exact

    @cached_property
    def kept(self) -> int:
        """The chance, out of 2**30, that a bit is kept as it is: 1 - f/2 in the paper."""
        return truthful_weight(LAYER, self.lifetime / 2)

    @cached_property
    def ones(self) -> int:
        """The chance, out of 2**30, that a kept 1 is reported as 1: q in the paper. The largest that epsilon allows."""
        most = exp_bounds(self.privacy.exact)[0]
        least, best = LAYER // 2 if self.false_ones is None else self._zeros(0), LAYER - 1
        while least < best:
            middle = (least + best + 1) // 2
            if self._bits(middle).max_ratio() <= most:
                least = middle
            else:
                best = middle - 1
        if least - self._zeros(least) < LEAST_GAP:
            raise InvalidParameter("epsilon is too small for a second layer in steps of 2**-30; use sue for a single report")
        return least

    @cached_property
    def zeros(self) -> int:
        """The chance, out of 2**30, that a kept 0 is reported as 1: p in the paper."""
        return self._zeros(self.ones)

    def _zeros(self, ones: int) -> int:
        return LAYER - ones if self.false_ones is None else int(Fraction(self.false_ones) * LAYER)

    def _bits(self, ones: int) -> Bits:
        """Both layers multiplied out."""
        zeros, lost = self._zeros(ones), LAYER - self.kept
        own, other = self.kept * ones + lost * zeros, lost * ones + self.kept * zeros
        return Bits(self.domain.size, own=own, other=other, scale=LAYER * LAYER)

    def build(self) -> Bits:
        """One report by itself."""
        return self._bits(self.ones)

    @cached_property
    def first_layer(self) -> Bits:
        """The bits that are drawn once and kept."""
        return Bits(self.domain.size, own=self.kept, other=LAYER - self.kept, scale=LAYER)

    def draw_permanent(self, value: Any, coins: Coins = SYSTEM) -> int:
        """The bits to keep for this value. Draw them once: every further draw costs `permanent` again."""
        return self.first_layer.draw(self.encode(value), coins)

    def report_kept(self, kept: int, coins: Coins = SYSTEM) -> Report:
        """A fresh report of bits that were kept."""
        self.first_layer.check(0, kept)
        output = 0
        for place in range(self.domain.size):
            threshold = self.ones if kept >> place & 1 else self.zeros
            output |= (coins.below(LAYER) < threshold) << place
        return Report(self.fingerprint, output)

    def ratio_of(self, reports: int) -> Fraction:
        """The largest ratio that so many reports of one value have between two values, exactly.

        A bit's likelihood ratio grows with how often it was 1, so the worst are all ones at one value's bit
        and all zeros at the other's.
        """
        if isinstance(reports, bool) or not isinstance(reports, int) or reports < 1:
            raise InvalidParameter("reports must be a whole number, at least 1")
        kept, lost = self.kept, LAYER - self.kept
        ratio = Fraction(1)
        for one, zero in ((self.ones, self.zeros), (LAYER - self.zeros, LAYER - self.ones)):
            high, low = one**reports, zero**reports
            ratio *= Fraction(kept * high + lost * low, lost * high + kept * low)
        return ratio

    def level_of(self, reports: int) -> float:
        """ln of `ratio_of`: `epsilon` for one report, nearing `permanent` for many."""
        return log_float(self.ratio_of(reports))

    @classmethod
    def examples(cls) -> Iterator[Self]:
        """Few categories, names with the published p = 1/2, and many categories."""
        yield cls(domain=Categories(3), epsilon=1)
        yield cls(domain=Categories(["red", "green", "blue", "other"]), epsilon=0.5, permanent=2, false_ones="1/2")
        yield cls(domain=Categories(64), epsilon=3, permanent=5)
