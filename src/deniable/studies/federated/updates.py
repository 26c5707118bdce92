"""A model's parameters as one vector, its updates as private reports, and their mean as a model again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import numpy as np

from deniable.batch import Floats, accumulator_for
from deniable.core import SYSTEM, Ball, Epsilon, EpsilonLike, NearestCodes, Number, Report, decode_report, encode_report
from deniable.errors import InvalidParameter
from deniable.estimators import VectorMean, mean

MOST_PARAMETERS = 1_000_000
"""The most that a `Ball` takes."""


class PrivateUpdates:
    """How one round of training is reported: the difference of two models, shortened to `clip`, as one private report.

    `like` is a model's parameters: an array or a torch tensor, or a dict, list or tuple of those, nested in any way. Only
    floating-point numbers are trained; counters and other integers keep the value of the model they belong to.
    Guarantee: epsilon-LDP for each report, whatever the two models are; one report per person and round.
    Cost: 19 bytes of header, 16 of the seed and at most 2 of the word, whatever the size of the model.

    >>> model = {"weights": np.zeros((2, 3), np.float32), "bias": np.zeros(2, np.float32)}
    >>> updates = PrivateUpdates(model, epsilon=4, clip=1)
    >>> trained = {"weights": np.full((2, 3), 0.2, np.float32), "bias": np.full(2, -0.1, np.float32)}
    >>> reports = [updates.report(model, trained) for _ in range(100)]
    >>> len(reports[0]), updates.mean(reports).value.size
    (36, 8)
    >>> updates.moved(model, updates.mean(reports))["weights"].shape
    (2, 3)
    """

    def __init__(self, like: Any, *, epsilon: EpsilonLike, clip: Number) -> None:
        self.dimension = sum(size for _leaf, size in _trained(like))
        self.mechanism = update_mechanism(self.dimension, Epsilon(epsilon), clip)

    def report(self, before: Any, after: Any) -> bytes:
        """One person's report: `after` is what training on their data made of `before`.

        An update with numbers that are not finite is reported as no change: that training failed may be private, too.
        """
        vector = self._vector(after) - self._vector(before)
        if not np.isfinite(vector).all():
            vector = np.zeros(self.dimension)
        mechanism = self.mechanism
        return encode_report(mechanism, mechanism.randomize(mechanism.domain.clip(vector.tolist()), SYSTEM))

    def read(self, data: bytes) -> Report:
        """The report in these bytes; anything else is refused."""
        return decode_report(self.mechanism, data)

    def mean(self, reports: Iterable[bytes | Report]) -> VectorMean:
        """The mean update of everyone who reported, with its intervals."""
        read = [self.read(report) if isinstance(report, bytes) else report for report in reports]
        if not read:
            raise InvalidParameter("reports must hold at least one report")
        return cast(VectorMean, mean(accumulator_for(self.mechanism).add(read)))

    def moved(self, model: Any, estimate: VectorMean) -> Any:
        """The model after the mean update: the same structure and types as `model`."""
        if estimate.value.size != self.dimension:
            raise InvalidParameter(f"estimate must be the mean of updates with {self.dimension} numbers")
        return self.unflatten(model, self._vector(model) + estimate.value)

    def flatten(self, model: Any) -> Floats:
        """Everything that is trained, as one vector: dictionaries in their order, arrays row by row."""
        return self._vector(model)

    def unflatten(self, model: Any, vector: Floats) -> Any:
        """A model like `model` with the numbers of this vector."""
        place = 0

        def filled(leaf: Any) -> Any:
            nonlocal place
            size = _size(leaf)
            if size is None:
                return leaf
            place += size
            return _like(leaf, vector[place - size : place])

        return _mapped(filled, model)

    def _vector(self, model: Any) -> Floats:
        parts = [_numbers(leaf) for leaf, _size_ in _trained(model)]
        vector = np.concatenate(parts) if parts else np.zeros(0)
        if vector.size != self.dimension:
            raise InvalidParameter(f"the model must have {self.dimension} trained numbers, as the one this was made for")
        return vector


@lru_cache(maxsize=16)
def update_mechanism(dimension: int, epsilon: Epsilon, clip: Number) -> NearestCodes:
    """The mechanism for updates of a model with so many trained numbers; device and server build the same one."""
    if not 1 <= dimension <= MOST_PARAMETERS:
        raise InvalidParameter(
            f"the model must have 1 to {MOST_PARAMETERS:,} trained numbers, it has {dimension:,}: "
            "train fewer of them, for example the last layer or an adapter"
        )
    return NearestCodes(domain=Ball(dimension, radius=clip), epsilon=epsilon)


def _leaves(model: Any) -> Iterator[Any]:
    if hasattr(model, "state_dict") or isinstance(model, Iterator):  # a torch module, or what its `parameters()` gives
        raise InvalidParameter("the model must be arrays or tensors in dicts, lists and tuples: pass module.state_dict()")
    if isinstance(model, Mapping):
        for part in model.values():
            yield from _leaves(part)
    elif isinstance(model, list | tuple):
        for part in model:
            yield from _leaves(part)
    else:
        yield model


def _mapped(change: Callable[[Any], Any], model: Any) -> Any:
    if isinstance(model, Mapping):
        return {name: _mapped(change, part) for name, part in model.items()}
    if isinstance(model, list | tuple):
        parts = [_mapped(change, part) for part in model]
        return parts if isinstance(model, list) else tuple(parts)
    return change(model)


def _trained(model: Any) -> Iterator[tuple[Any, int]]:
    for leaf in _leaves(model):
        size = _size(leaf)
        if size is not None:
            yield leaf, size


def _is_tensor(leaf: Any) -> bool:
    """A torch tensor, without importing torch."""
    return hasattr(leaf, "detach") and hasattr(leaf, "new_tensor")


def _size(leaf: Any) -> int | None:
    """How many numbers of this leaf are trained; None when it holds something else."""
    if _is_tensor(leaf):
        return int(leaf.numel()) if leaf.is_floating_point() else None
    array = np.asarray(leaf)
    return array.size if array.dtype.kind == "f" else None


def _numbers(leaf: Any) -> Floats:
    array = leaf.detach().cpu().double().numpy() if _is_tensor(leaf) else np.asarray(leaf, np.float64)
    return np.asarray(array, np.float64).reshape(-1)


def _like(leaf: Any, numbers: Floats) -> Any:
    if _is_tensor(leaf):
        return leaf.new_tensor(numbers.reshape(tuple(leaf.shape)).tolist())
    array = np.asarray(leaf)
    return numbers.reshape(array.shape).astype(array.dtype)
