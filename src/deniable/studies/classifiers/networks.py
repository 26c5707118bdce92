"""ReLU networks: boxes in which the answer is proved not to change, and the exact radius of small networks.

Bounds of every layer follow from bounds of the one before (interval bound propagation). They are computed in
doubles, and a bound of the network's own single-precision rounding travels with them. A box is also cut into
smaller ones where that helps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from deniable._extras import required
from deniable.batch import Floats
from deniable.errors import InvalidParameter, NotSupported
from deniable.studies.classifiers.region import Box
from deniable.studies.classifiers.search import GrownBox, proved_box

UNITS = {"torch.float16": 2.0**-11, "torch.bfloat16": 2.0**-8, "torch.float32": 2.0**-24, "torch.float64": 2.0**-53}
MOST_PARTS = 256


class Layer(NamedTuple):
    """One step: kind "affine" (with its torch module), "relu", "pool" or "flatten"."""

    kind: str
    module: Any = None
    magnitude: Any = None
    terms: int = 0


@dataclass(frozen=True, eq=False)
class Network:
    """The layers of a torch module in evaluation mode, in doubles, and the unit of its own rounding."""

    layers: tuple[Layer, ...]
    unit: float
    shape: tuple[int, ...]
    record: Any
    sensitive: tuple[int, ...]
    target: int

    def scores(self, numbers: Any) -> Floats:
        """The network's scores, in doubles, for rows of sensitive numbers."""
        torch = _torch()
        rows = np.atleast_2d(np.asarray(numbers, dtype=np.float64))
        inputs = self.record.reshape(1, -1).repeat(len(rows), 1)
        inputs[:, list(self.sensitive)] = torch.from_numpy(rows)
        scored = _run(self.layers, inputs.reshape(len(rows), *self.shape))
        return np.asarray(scored.numpy())

    def holds_in(self, box: Box, *, parts: int = MOST_PARTS) -> bool:
        """Is the answer proved to stay the same in the box, cut into at most `parts` pieces?"""
        lows, highs = np.array([box.low]), np.array([box.high])
        used = 1
        while len(lows):
            open_ = self.leads(lows, highs) <= 0
            lows, highs = lows[open_], highs[open_]
            used += len(lows)
            if not len(lows):
                return True
            middles = (lows + highs) / 2
            if used > parts or bool((self.scores(middles).argmax(axis=1) != self.target).any()):
                return False
            # Every open piece is halved across its longest side.
            rows, axes = np.arange(len(lows)), np.argmax(highs - lows, axis=1)
            upper, lower = highs.copy(), lows.copy()
            upper[rows, axes] = lower[rows, axes] = middles[rows, axes]
            lows, highs = np.concatenate([lows, lower]), np.concatenate([upper, highs])
        return True

    def leads(self, lows: Floats, highs: Floats) -> Floats:
        """Lower bounds of the answered class's lead over every other one in boxes, rounding taken off."""
        torch = _torch()
        bottom = self.record.reshape(1, -1).repeat(len(lows), 1)
        top = bottom.clone()
        bottom[:, list(self.sensitive)], top[:, list(self.sensitive)] = torch.from_numpy(lows), torch.from_numpy(highs)
        bounds = bottom.reshape(-1, *self.shape), top.reshape(-1, *self.shape)
        # What is put into the network is rounded too.
        doubt = self.unit * torch.maximum(bounds[0].abs(), bounds[1].abs())
        for layer in self.layers[:-1]:
            bounds, doubt = _bounded(layer, *bounds, doubt, self.unit)
        return _least_leads(self.layers[-1], *bounds, doubt, self.unit, self.target)


def read_network(module: Any, record: Any, sensitive: Sequence[int], *, same_as: int | None = None) -> Network:
    """A torch.nn.Sequential of Linear, Conv2d, ReLU, Flatten and pooling layers, at one record.

    `record` has the shape of one input; `sensitive` are places in it when it is laid out flat.
    """
    torch = _torch()
    inputs = torch.as_tensor(np.asarray(record, dtype=np.float64))
    places = tuple(int(place) for place in sensitive)
    if not places or len(set(places)) != len(places) or not all(0 <= place < inputs.numel() for place in places):
        raise InvalidParameter(f"sensitive must name different places of the record, from 0 to {inputs.numel() - 1}")
    if not bool(torch.isfinite(inputs).all()):
        raise InvalidParameter("record must hold finite numbers")
    layers = tuple(_layers(module))
    if not layers or layers[-1].kind != "affine" or isinstance(layers[-1].module, torch.nn.Conv2d):
        raise NotSupported("the network must end in a Linear layer that gives one score per class; leave softmax out")
    unit = max((UNITS.get(str(p.dtype), 2.0**-8) for p in module.parameters()), default=2.0**-53)
    with torch.no_grad():
        answer = int(_run(layers, inputs[None]).argmax()) if same_as is None else int(same_as)
    return Network(layers, unit, tuple(inputs.shape), inputs.reshape(-1), places, answer)


def network_box(
    network: Network,
    low: Sequence[float],
    high: Sequence[float],
    *,
    parts: int = MOST_PARTS,
    radius_steps: int = 24,
    side_steps: int = 8,
) -> GrownBox:
    """A proved box around the record, inside [low, high] of the sensitive features."""
    point = network.record[list(network.sensitive)].numpy()
    return proved_box(
        lambda box: network.holds_in(box, parts=parts), point, low, high, radius_steps=radius_steps, side_steps=side_steps
    )


def _layers(module: Any) -> list[Layer]:
    torch = _torch()
    nn = torch.nn
    if isinstance(module, nn.Sequential):
        return [layer for part in module for layer in _layers(part)]
    if isinstance(module, nn.Linear | nn.Conv2d):
        if isinstance(module, nn.Conv2d) and module.padding_mode != "zeros":
            raise NotSupported("only zero padding is known for Conv2d")
        ours = type(module)(*_arguments(module), bias=module.bias is not None).double()
        with torch.no_grad():
            ours.weight.copy_(module.weight)
            if module.bias is not None:
                ours.bias.copy_(module.bias)
        ours.requires_grad_(False)
        size = type(module)(*_arguments(module), bias=False).double().requires_grad_(False)
        size.weight.copy_(ours.weight.abs())
        return [Layer("affine", ours, size, int(module.weight[0].numel()) + 1)]
    if isinstance(module, nn.ReLU):
        return [Layer("relu")]
    if isinstance(module, nn.Flatten):
        return [Layer("flatten")]
    if isinstance(module, nn.MaxPool2d):
        return [Layer("pool", module)]
    if isinstance(module, nn.AvgPool2d):
        side = module.kernel_size if isinstance(module.kernel_size, tuple) else (module.kernel_size,) * 2
        return [Layer("affine", module, module, math.prod(side) + 1)]
    if isinstance(module, nn.Dropout | nn.Dropout2d | nn.Identity):
        return []
    raise NotSupported(
        f"bounds of {type(module).__name__} are not known; Linear, Conv2d, ReLU, Flatten, pooling and Dropout are. Sample instead"
    )


def _arguments(module: Any) -> tuple[Any, ...]:
    if hasattr(module, "in_features"):
        return module.in_features, module.out_features
    return (
        module.in_channels,
        module.out_channels,
        module.kernel_size,
        module.stride,
        module.padding,
        module.dilation,
        module.groups,
    )


def _run(layers: Sequence[Layer], inputs: Any) -> Any:
    for layer in layers:
        if layer.kind == "relu":
            inputs = inputs.clamp(min=0)
        elif layer.kind == "flatten":
            inputs = inputs.flatten(1)
        else:
            inputs = layer.module(inputs)
    return inputs


def _bounded(layer: Layer, low: Any, high: Any, doubt: Any, unit: float) -> tuple[tuple[Any, Any], Any]:
    """Bounds after a layer, and how far the network's own rounding may be from exact arithmetic there."""
    if layer.kind == "relu":
        return (low.clamp(min=0), high.clamp(min=0)), doubt
    if layer.kind == "flatten":
        return (low.flatten(1), high.flatten(1)), doubt.flatten(1)
    if layer.kind == "pool":
        return (layer.module(low), layer.module(high)), layer.module(doubt)
    middle, reach = (low + high) / 2, (high - low) / 2
    centre, spread = layer.module(middle), layer.magnitude(reach)
    largest = low.abs().maximum(high.abs())
    rate = _rate(layer.terms, unit)
    grown = layer.magnitude(doubt) * (1 + rate) + rate * (layer.magnitude(largest) + _bias_size(layer, centre))
    return (centre - spread, centre + spread), grown


def _rate(terms: int, unit: float) -> float:
    """The relative error of a sum of that many products, in any order; ours, in doubles, is a part of it."""
    return terms * unit / (1 - terms * unit) + terms * 2.0**-51


def _bias_size(layer: Layer, like: Any) -> Any:
    bias = getattr(layer.module, "bias", None)
    if bias is None:
        return 0.0
    return bias.abs().reshape(1, -1, *([1] * (like.dim() - 2)))


def _least_leads(layer: Layer, low: Any, high: Any, doubt: Any, unit: float, target: int) -> Floats:
    """The least difference of two scores: bounded together, since both read the same last hidden layer."""
    weights, bias = layer.module.weight, layer.module.bias
    others = [k for k in range(len(weights)) if k != target]
    rows = (weights[target] - weights[others]).T
    sizes = (weights[target].abs() + weights[others].abs()).T
    offsets = 0.0 if bias is None else bias[target] - bias[others]
    least = (low + high) / 2 @ rows - (high - low) / 2 @ rows.abs() + offsets
    rate = _rate(layer.terms, unit)
    biases = 0.0 if bias is None else bias[target].abs() + bias[others].abs()
    slack = doubt @ sizes * (1 + rate) + rate * (low.abs().maximum(high.abs()) @ sizes + biases)
    return np.asarray((least - slack).min(dim=1).values.numpy())


def _torch() -> Any:
    return required("torch")
