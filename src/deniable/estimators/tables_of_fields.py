"""Tables of several fields from reports of `marginals`: unbiased, of fields that were asked for together, by all reports that help.

Reports of a marginal give an unbiased interaction of every set of its fields. Where several marginals tell the same one, they are
weighed by their information at an even spread (weighted least squares), which depends on no answer: what comes out is unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import prod

import numpy as np

from deniable.batch import Floats, Sampled
from deniable.core import Marginals, Mechanism
from deniable.errors import InvalidParameter, NotSupported
from deniable.estimators.consistent_tables import consistent_interactions
from deniable.estimators.contrasts import contrast_noise
from deniable.estimators.estimate import Estimate, Target, check_target
from deniable.estimators.interactions import Fields, others, pull, spread, subsets
from deniable.estimators.marginal_reports import MarginalReports, TableQuestion
from deniable.estimators.projections import simplex
from deniable.estimators.score_intervals import ScoreIntervals
from deniable.estimators.source import Source, accumulated

MOST_CELLS = 4096
"""Of a table that is estimated."""
MOST_PAIRED = 1024
"""Where marginals have more cells, tables have variances, but no covariances."""


def marginal_sums(source: Source) -> MarginalSums:
    """What reports of `marginals` say about tables of several fields.

    >>> from deniable.core import Binary, Categories, Record
    >>> person = Record({"smokes": Binary(), "city": Categories(3), "job": Categories(4)})
    >>> reports = Marginals(domain=person, epsilon=4).randomize_many({name: [1] * 3000 for name in person.fields})
    >>> table = marginal_sums(reports).marginal(["smokes", "job"])
    >>> table.labels[int(np.argmax(table.value))], round(float(table.value.sum()), 9)
    ((1, 1), 1.0)
    """
    sums = accumulated(source)
    if not isinstance(sums.mechanism, Marginals) or not isinstance(sums, Sampled):
        raise NotSupported(f"{sums.mechanism.name} has no tables of several fields; use the mechanism marginals")
    return MarginalSums(sums)


class MarginalSums:
    """The sums of every marginal's reports, and the tables that they tell together."""

    def __init__(self, sums: Sampled) -> None:
        mechanism = sums.mechanism
        assert isinstance(mechanism, Marginals)
        self.mechanism = mechanism
        self.n: int = sums.n
        self.names = tuple(mechanism.domain.fields)
        self.sizes = tuple(domain.size for domain in mechanism.domain.fields.values())
        noises: dict[tuple[str, int], float] = {}

        def noise(part: Mechanism) -> float:
            key = part.name, part.domain.size
            if key not in noises:
                noises[key] = contrast_noise(part)
            return noises[key]

        self.heard = [
            MarginalReports(self._places(names), self.sizes, part, noise(part.mechanism))
            for names, part in zip(mechanism.marginals, sums.parts.values(), strict=True)
            if part.n
        ]
        self._interactions = cache(self._combined)

    def marginal(self, names: Sequence[str], *, target: Target = "these users") -> Estimate:
        """The table of these fields: the share of people in each cell, unbiased, the last field changing fastest.

        Labels are tuples of values, and of a single field its values; `value.reshape(…)` is the table. `projected()` makes it
        a possible one, `consistent_marginals` makes all tables possible together.
        """
        check_target(target)
        fields = self._fields(names)
        self._interactions(fields)  # refused first where no marginal has all of them: more reports would not help
        value = self.shares(fields)
        likely = simplex(value, 1.0)
        helping = [one for one in self.heard if set(one.fields) & set(fields)]
        shape = [self.sizes[field] for field in fields]
        pulls = [self._pull(np.eye(value.size).reshape(-1, *shape), fields, one) for one in helping]
        tables = [simplex(self.shares(one.fields, least=fields), 1.0) for one in helping]
        asked = [
            TableQuestion(
                fields, cell, float(likely[cell]), [(one, pull[cell], table) for one, pull, table in each], self.n, target
            )
            for cell, each in ((cell, list(zip(helping, pulls, tables, strict=True))) for cell in range(value.size))
        ]
        covariance: Floats | None = None
        variance: Floats | None = None
        if max(table.size for table in tables) <= MOST_PAIRED:
            each = [pull @ one.covariance(table) @ pull.T for one, pull, table in zip(helping, pulls, tables, strict=True)]
            covariance = np.sum(each, axis=0)
            if target == "these users":
                # Who was asked for which marginal counts; which users there are does not.
                covariance = covariance - (np.diag(likely) - np.outer(likely, likely)) / self.n
        else:
            variance = np.array([one.moments(np.array([one.share, 1 - one.share]))[0] for one in asked])
        domains = [self.mechanism.domain.fields[self.names[field]] for field in fields]
        cells = [tuple(domain.decode(at) for domain, at in zip(domains, cell, strict=True)) for cell in np.ndindex(*shape)]
        return Estimate(
            value=value,
            covariance=covariance,
            variance=variance,  # type: ignore[arg-type]  # None: that of the covariance
            n=self.n,
            target=target,
            method=f"unbiased table of {', '.join(names)}, from marginals that tell of them",
            labels=[cell[0] for cell in cells] if len(fields) == 1 else cells,
            total=1.0,
            bounds=(0.0, 1.0),
            sure=ScoreIntervals(tuple(one.score(float(share)) for one, share in zip(asked, value, strict=True))),
        )

    @property
    def ways(self) -> int:
        """The largest number of fields of which every choice was asked together."""
        asked = {one for fields in map(self._places, self.mechanism.marginals) for one in subsets(fields)}
        every = range(len(self.names))
        return max(ways for ways in range(len(self.names) + 1) if asked.issuperset(combinations(every, ways) if ways else ()))

    def cells(self, ways: int) -> int:
        """How many cells all tables of so many fields have together."""
        return sum(self.mechanism.cells(names) for names in self._all(ways))

    def marginals(self, ways: int, *, target: Target = "these users") -> dict[tuple[str, ...], Estimate]:
        """All tables of so many fields, by their names."""
        return {names: self.marginal(names, target=target) for names in self._all(ways)}

    def consistent_marginals(self, ways: int, *, target: Target = "these users") -> dict[tuple[str, ...], Estimate]:
        """All tables of so many fields, possible and in agreement: no share is below 0, each table adds up to 1, and two tables say
        the same about the fields that both have. Among all such tables, those closest to the unbiased ones in
        the metric of their noise.

        Biased; every estimate keeps its unbiased `parent`, whose variances and intervals it has.
        """
        every = [self._fields(names) for names in self._all(ways)]
        known = {wanted: self._interactions(wanted) for wanted in dict.fromkeys(one for fields in every for one in subsets(fields))}
        closest = consistent_interactions(known, every, self.sizes)
        tables = {}
        for names, fields in zip(self._all(ways), every, strict=True):
            parent = self.marginal(names, target=target)
            tables[names] = Estimate(
                value=closest[fields],
                variance=parent.variance,
                covariance=parent.covariance,
                n=self.n,
                target=target,
                method=f"{parent.method}, made consistent with all other tables (intervals are those before it)",
                labels=parent.labels,
                total=1.0,
                bounds=(0.0, 1.0),
                sure=parent.sure,
                parent=parent,
            )
        return tables

    def shares(self, fields: Fields, *, least: Fields | None = None) -> Floats:
        """The unbiased table of these fields, flat; with `least` only what is known of it, if that is known of those."""
        shape = [self.sizes[field] for field in fields]
        table = np.full(shape, 1 / prod(shape))
        for wanted in subsets(fields):
            if least is not None and not self._telling(wanted):
                continue
            table = table + spread(self._interactions(wanted)[0], wanted, fields, self.sizes) / others(wanted, fields, self.sizes)
        return np.asarray(table.reshape(-1), np.float64)

    def interaction(self, fields: Sequence[int]) -> Floats:
        """The unbiased interaction of the fields at these places: their table less what smaller sets of them say."""
        return self._interactions(tuple(fields))[0]

    def _pull(self, questions: Floats, fields: Fields, one: MarginalReports) -> Floats:
        return pull(
            questions, fields, one.fields, self.sizes, lambda wanted: one.information(wanted) / self._interactions(wanted)[1]
        )

    def _telling(self, wanted: Fields) -> list[MarginalReports]:
        return [one for one in self.heard if set(wanted) <= set(one.fields)]

    def _combined(self, wanted: Fields) -> tuple[Floats, float]:
        """The interaction of these fields by all reports that tell it, and their information about it."""
        telling = self._telling(wanted)
        if not telling:
            names = ", ".join(self.names[field] for field in wanted)
            asked = [fields for fields in map(self._places, self.mechanism.marginals) if set(wanted) <= set(fields)]
            if asked:
                how = " together" if len(wanted) > 1 else ""
                raise InvalidParameter(f"nobody has been asked about {names}{how} yet; collect more reports")
            raise NotSupported(f"no marginal of this mechanism has {names} together; ask for fields that one of them has")
        information = [one.information(wanted) for one in telling]
        whole = sum(information)
        return np.asarray(
            sum(share / whole * one.interaction(wanted) for share, one in zip(information, telling, strict=True))
        ), whole

    def _all(self, ways: int) -> list[tuple[str, ...]]:
        if isinstance(ways, bool) or not isinstance(ways, int) or not 1 <= ways <= len(self.names):
            raise InvalidParameter(f"ways must be a whole number of fields, from 1 to {len(self.names)}")
        return list(combinations(self.names, ways))

    def _places(self, names: Sequence[str]) -> Fields:
        return tuple(self.names.index(name) for name in names)

    def _fields(self, names: Sequence[str]) -> Fields:
        if isinstance(names, str) or not names or any(name not in self.names for name in names):
            raise InvalidParameter(f"names must be a list of fields of the record: {', '.join(self.names)}")
        fields = self._places(names)
        if list(fields) != sorted(set(fields)):
            raise InvalidParameter("names must be different fields, in the record's order")
        if prod(self.sizes[field] for field in fields) > MOST_CELLS:
            raise NotSupported(f"tables of more than {MOST_CELLS:,} cells are not estimated; ask for fewer fields at once")
        return fields
