"""How the counts of two values err together, exactly, given how many people have each value.

For v != w, with the indicator of S_v and S_w of one report from a person with value x:

    x = v or x = w      both with probability r2, one by one p and q
    any other x         both with probability r3, one by one q and q

where r2 and r3 follow from how many outputs two and three sets share. For Hadamard and projective
sets some triples share as much as the pair does (S_x holds all of S_v and S_w together): those x are found
one by one, and count with r2. For hashes, r3 is the average over hash functions, as q is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, singledispatch

import numpy as np
from numba import njit

from deniable.batch import Floats, LastFew
from deniable.core import Channel, Hadamard, Mechanism, Projective, SetSystem
from deniable.estimators.law.field_characters import row_numbers
from deniable.estimators.law.support import support

MOST_VALUES = 2000
"""Up to so many values there is a full matrix; beyond, only its diagonal."""


@dataclass(frozen=True)
class SupportLaw:
    """Pr[y in S_v] for v = x and v != x, and Pr[y in S_v and S_w] for x among v, w and not; as floats."""

    channel: Channel
    p: float
    q: float
    pair: float
    triple: float

    @property
    def gap(self) -> float:
        """p - q: what one person adds to the expected support of their own value."""
        return self.p - self.q

    def count_noise(self, people: Floats, full: bool) -> Floats:
        """The covariance of the unbiased counts, or its diagonal."""
        return (self.covariance(people) if full else self.variance(people)) / self.gap**2

    def variance(self, people: Floats) -> Floats:
        """The variance of every count C(v), when people[v] have the value v."""
        p, q = self.p, self.q
        return np.asarray(people * p * (1 - p) + (people.sum() - people) * q * (1 - q))

    def covariance(self, people: Floats) -> Floats:
        """The covariance of every pair of counts C(v), C(w)."""
        own, other = self.pair - self.p * self.q, self.triple - self.q**2
        both = people[:, None] + people[None, :]
        covariances = both * (own - other) + people.sum() * other
        sets = self.channel.set_system
        if sets is not None and self.pair != self.triple:
            covariances += (self.pair - self.triple) * people_in_line(sets, people)
        np.fill_diagonal(covariances, self.variance(people))
        return np.asarray(covariances)


@lru_cache(maxsize=64)
def support_law(mechanism: Mechanism) -> SupportLaw:
    """The probabilities of a categorical mechanism, from the integers of its channel."""
    one = support(mechanism)
    pair, triple = mechanism.channel.joint_support()
    return SupportLaw(mechanism.channel, float(one.p), float(one.q), float(pair), float(triple))


law_if_any: LastFew[Mechanism, SupportLaw | None] = LastFew(
    lambda mechanism: None if mechanism.channel.support() is None else support_law(mechanism)
)
"""The same, or None where outputs support no values; hashing a recipe takes longer than finding it again."""


@singledispatch
def people_in_line(sets: SetSystem, people: Floats) -> Floats:
    """For every pair v, w: how many have another value whose set holds all that S_v and S_w share."""
    return np.zeros((len(people), len(people)))


@people_in_line.register
def _(sets: Projective, people: Floats) -> Floats:
    inverse = np.array([0, *(pow(a, -1, sets.prime) for a in range(1, sets.prime))], np.int64)
    digits = np.array([sets.vector(index) for index in range(len(people))], np.int64)
    in_line = np.zeros((len(people), len(people)))
    _lines(digits, people, sets.prime, inverse, np.zeros((0, 0), np.int64), in_line)
    return in_line


@people_in_line.register
def _(sets: Hadamard, people: Floats) -> Floats:
    size = len(people)
    if sets.checks == 1:
        # Even parity with v + 1 and with w + 1 means even parity with their exclusive or.
        rows = np.arange(1, size + 1)
        padded = np.zeros(sets.outputs)
        padded[1 : size + 1] = people
        return np.asarray(padded[rows[:, None] ^ rows[None, :]])
    elements = 1 << sets.checks
    products = np.array([[sets.times(a, b) for b in range(elements)] for a in range(elements)], np.int64)
    inverse = np.array([0, *(int(np.flatnonzero(products[a] == 1)[0]) for a in range(1, elements))], np.int64)
    places = sets.checks * np.arange(sets.digits)[::-1]
    digits = (row_numbers(sets)[:size, None] >> places) & (elements - 1)
    in_line = np.zeros((size, size))
    _lines(digits, people, elements, inverse, products, in_line)
    return in_line


@njit(nogil=True, cache=True)
def _lines(digits, people, prime, inverse, products, beside):  # type: ignore[no-untyped-def]
    """beside[v, w] = the people on the line through v and w, without those of v and w themselves.

    Digits are residues of a prime; or, with a table of products, elements of a field of characteristic 2.
    """
    binary = products.size > 0
    size, dimension = digits.shape
    row = np.zeros(dimension, np.int64)
    line = np.empty(prime, np.int64)
    for v in range(size):
        seen = np.zeros(size, np.bool_)
        seen[v] = True
        for w in range(size):
            if seen[w]:
                continue
            # The other points of the line: w, then v + c w for every c != 0.
            on_line, total = 1, people[w]
            line[0] = w
            for c in range(1, prime):
                for place in range(dimension):
                    if binary:
                        row[place] = digits[v, place] ^ products[c, digits[w, place]]
                    else:
                        row[place] = (digits[v, place] + c * digits[w, place]) % prime
                lead = 0
                while row[lead] == 0:
                    lead += 1
                scale = inverse[row[lead]]
                number, before, block = np.int64(0), np.int64(0), np.int64(1)
                for place in range(lead + 1, dimension):
                    scaled = products[row[place], scale] if binary else row[place] * scale % prime
                    number = number * prime + scaled
                    before += block
                    block *= prime
                if number + before < size:
                    line[on_line] = number + before
                    on_line += 1
                    total += people[number + before]
            for i in range(on_line):
                seen[line[i]] = True
                beside[v, line[i]] = total - people[line[i]]
