"""The contract of every mechanism: a frozen public recipe."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from deniable.core.channels.base import Channel
from deniable.core.domains.base import Domain, domain_from_recipe
from deniable.core.exact.epsilon import LARGE, Epsilon, EpsilonLike
from deniable.core.exact.numbers import show_literal
from deniable.core.mechanisms.certificate import Certificate
from deniable.core.randomness.coins import SYSTEM, Coins
from deniable.core.reports.fingerprint import fingerprint
from deniable.core.reports.report import Report
from deniable.errors import InvalidParameter, NotSupported

if TYPE_CHECKING:
    from deniable.core.mechanisms.privacy import Privacy

TASKS = {
    "frequency": "shares of categories",
    "mean": "means of bounded numbers, by reports whose mean is a straight line in the value",
    "distribution": "distributions and quantiles of numbers or directions, by bins of its reports",
    "location": "places, each report read as one",
    "items": "shares of items of which everyone has a few",
    "key-values": "shares of keys, and the mean of the number that goes with each",
    "key-distributions": "how the numbers of each key are distributed, among those who have it",
    "heavy-hitters": "frequent words out of far too many to list",
    "vector": "means of vectors of bounded length: model updates, embeddings",
    "field": "one field of a record beside others: each of these is weighed for every way to divide epsilon",
    "test": "a hypothesis test, beside the best design for it",
}
"""What a mechanism may say it is for; the planner and others who choose weigh those that say so."""


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A domain, a privacy level, and the channel that follows from them.

    An author writes `build` (the channel), `decode` (how one output is read) and `examples`; sampling,
    certificates, error formulas, wire formats, charts and the conformance suite follow from those.
    """

    domain: Domain
    epsilon: EpsilonLike

    name: ClassVar[str] = ""
    """The wire name. Never reused with another meaning."""
    family: ClassVar[str] = ""
    """binary, categorical, numeric, circular, records, spatial, words, sets or vectors."""
    source: ClassVar[str] = ""
    """Where the mechanism was published."""
    published_as: ClassVar[str] = ""
    """The name of the published rule it corrects, or is; errors are shown beside that one's."""
    domain_types: ClassVar[tuple[type[Domain], ...]] = (Domain,)
    tasks: ClassVar[tuple[str, ...]] = ()
    """Which of TASKS it is weighed for."""
    slow: ClassVar[bool] = False
    """Are all its weights written out, so that predicting its error takes long? Then it is weighed last, if at all."""
    unbiased: ClassVar[bool] = False
    """Is the mean of the reading exactly the value on the grid?"""
    delta: ClassVar[Fraction] = Fraction(0)
    """Zero for pure privacy; mechanisms that only promise (epsilon, delta) make it a field."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", Epsilon(self.epsilon))
        if not isinstance(self.domain, self.domain_types):
            wanted = " or ".join(kind.__name__ for kind in self.domain_types)
            raise InvalidParameter(
                f"{self.name} needs the domain {wanted}, got {type(self.domain).__name__}; "
                "change the domain or choose another mechanism (`deniable mechanisms` lists them)"
            )

    @abstractmethod
    def build(self) -> Channel:
        """The channel of this recipe. Called once."""

    @abstractmethod
    def decode(self, output: int) -> Any:
        """One output as the value it stands for (a best guess; estimators do better with many)."""

    def decode_walk(self, outputs: Sequence[int]) -> list[Any]:
        """The outputs of one person's reports in a row, each read as what it stands for after those before it."""
        return [self.decode(output) for output in outputs]

    @classmethod
    @abstractmethod
    def examples(cls) -> Iterator[Self]:
        """A few small and a few ordinary instances; every generic test runs on them."""

    @property
    def privacy(self) -> Epsilon:
        """epsilon as what it became at construction: an exact number that answers exact questions."""
        assert isinstance(self.epsilon, Epsilon)
        return self.epsilon

    @property
    def promise(self) -> Privacy | None:
        """A level for every pair of values, where they are not all epsilon; then it is the claim, and epsilon its largest level."""
        return None

    @property
    def protects_all(self) -> bool:
        """Is epsilon a bound for every pair of values?"""
        return self.promise is None or self.promise.everywhere is not None

    @property
    def parts(self) -> Mapping[str, Mechanism]:
        """The mechanisms of fields or coordinates, by name, where they are drawn independently or picked; else none."""
        return {}

    @property
    def lifetime(self) -> Fraction:
        """The most that any number of reports of one value tell, when what is drawn once is kept; epsilon without such a layer."""
        return self.privacy.exact

    @cached_property
    def channel(self) -> Channel:
        """The channel, built once."""
        try:
            return self.build()
        except ArithmeticError as beyond:
            raise InvalidParameter(
                f"the parameters of {self.name} are too large or too small to compute with: choose numbers closer to 1"
            ) from beyond

    def encode(self, value: Any) -> int:
        """The channel's input for a private value."""
        return self.domain.encode(value)

    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        """A private report of one value, from the system's randomness."""
        return Report(self.fingerprint, self.channel.draw(self.encode(value), coins))

    def randomize_many(self, values: Any) -> Any:
        """Private reports of an array of values, by the same law (needs numpy; see deniable.batch)."""
        # This and `accumulator` are the doors from here to the packages on arrays, opened only when asked.
        return importlib.import_module("deniable.batch").randomize_many(self, values)

    def accumulator(self) -> Any:
        """An empty, mergeable sum for this recipe's reports (needs numpy; see deniable.batch.accumulators)."""
        return importlib.import_module("deniable.batch").accumulator_for(self)

    @cached_property
    def fingerprint(self) -> str:
        """The short name of exactly this recipe and these weights."""
        return fingerprint(self.recipe(), self.channel.compiled())

    def delta_exact(self) -> Fraction:
        """What the weights give beside epsilon; only approximate mechanisms have anything to say here."""
        return Fraction(0)

    def certificate(self) -> Certificate:
        """The privacy claim and the integers behind it."""
        promise = self.promise
        return Certificate(
            mechanism=self.name,
            fingerprint=self.fingerprint,
            epsilon=self.privacy,
            ratio=self.channel.max_ratio(),
            delta=self.delta,
            delta_exact=self.delta_exact(),
            promise=promise,
            pair=None if promise is None else promise.nearest(self.channel),
        )

    def parameters(self) -> dict[str, Any]:
        """Everything beside domain and epsilon that makes this recipe what it is."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.name not in ("domain", "epsilon")}

    def recipe(self) -> dict[str, Any]:
        """The canonical JSON form; `mechanism_from_recipe` reads it back."""
        written = {name: _written(value) for name, value in self.parameters().items()}
        return {"mechanism": self.name, "domain": self.domain.recipe(), "epsilon": str(self.privacy.exact), "parameters": written}

    @classmethod
    def from_recipe(cls, recipe: dict[str, Any], *, allow_large: bool = False) -> Self:
        """Rebuild from a recipe of this mechanism's name; only the caller can allow levels above 20, never the recipe."""
        epsilon = Epsilon(recipe["epsilon"], allow_large=allow_large)
        return cls(domain=domain_from_recipe(recipe["domain"]), epsilon=epsilon, **recipe["parameters"])

    def __repr__(self) -> str:
        shown = {"domain": self.domain, "epsilon": self.epsilon, **self.parameters()}
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in shown.items())})"


def _shown(value: object) -> str:
    """A parameter as one would write it."""
    if isinstance(value, Epsilon) and value <= LARGE:
        return show_literal(value.exact)
    if type(value) is tuple:
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    return show_literal(value) if isinstance(value, Fraction) else repr(value)


def _written(value: Any) -> Any:
    """A parameter in JSON: exact numbers become strings, sequences lists, recipes recipes."""
    if isinstance(value, Epsilon):
        return str(value.exact)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mechanism):
        return value.recipe()
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    raise NotSupported(f"a recipe cannot hold a {type(value).__name__}")
