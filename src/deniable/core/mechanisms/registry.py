"""Names and where they live. A name, once released, never changes its meaning."""

from __future__ import annotations

import importlib
from typing import Any

from deniable.core.mechanisms.base import Mechanism
from deniable.errors import InvalidParameter, UnknownMechanism

# name -> family.module:Class. Loaded on first use, so that a phone imports only what it runs.
REGISTRY: dict[str, str] = {
    "randomized-response": "binary.randomized_response:RandomizedResponse",
    "one-bit-mean": "binary.one_bit_mean:OneBitMean",
    "k-rr": "categorical.k_rr:KaryRandomizedResponse",
    "sue": "categorical.sue:SymmetricUnary",
    "oue": "categorical.oue:OptimizedUnary",
    "blh": "categorical.blh:BinaryLocalHashing",
    "olh": "categorical.olh:OptimizedLocalHashing",
    "hadamard": "categorical.hadamard:HadamardResponse",
    "projective": "categorical.projective:ProjectiveGeometryResponse",
    "subset": "categorical.subset:SubsetSelection",
    "sign-bits": "categorical.sign_bits:SignBits",
    "exponential": "categorical.exponential:Exponential",
    "rappor": "categorical.rappor:Rappor",
    "extremal": "categorical.extremal:Extremal",
    "ogpm": "numeric.ogpm:OGPM",
    "window": "numeric.window:Window",
    "one-bit-squared": "numeric.one_bit_squared:OneBitSquared",
    "atoms": "numeric.atoms:AtomsWindow",
    "pm": "numeric.pm:PM",
    "sw": "numeric.sw:SquareWave",
    "pm-c": "numeric.pm_c:CompressedPM",
    "sw-c": "numeric.sw_c:CompressedSquareWave",
    "t-pm": "numeric.t_pm:TruncatedPM",
    "t-sw": "numeric.t_sw:TruncatedSquareWave",
    "redesigned-sw": "numeric.redesigned_sw:RedesignedSquareWave",
    "ogpm-u": "numeric.ogpm_u:UnbiasedOGPM",
    "duchi": "numeric.duchi:Duchi",
    "hm": "numeric.hm:Hybrid",
    "pm-sub": "numeric.pm_sub:PMSub",
    "three-outputs": "numeric.three_outputs:ThreeOutputs",
    "laplace": "numeric.laplace:Laplace",
    "truncated-laplace": "numeric.truncated_laplace:TruncatedLaplace",
    "bounded-laplace": "numeric.bounded_laplace:BoundedLaplace",
    "staircase": "numeric.staircase:Staircase",
    "pieces": "numeric.pieces:Pieces",
    "designed": "numeric.designed:Designed",
    "designed-unbiased": "numeric.designed_unbiased:DesignedUnbiased",
    "gaussian": "numeric.gaussian:Gaussian",
    "privacy-indicator": "numeric.privacy_indicator:PrivacyIndicator",
    "circular-ogpm": "circular.circular_ogpm:CircularOGPM",
    "circular-window": "circular.circular_window:CircularWindow",
    "circular-redesigned-sw": "circular.circular_redesigned_sw:CircularRedesignedSquareWave",
    "purkayastha": "circular.purkayastha:Purkayastha",
    "flattened": "circular.flattened:Flattened",
    "product": "records.product:ProductMechanism",
    "polar": "records.polar:Polar",
    "sample-one": "records.sample_one:SampleOne",
    "rs-fd": "records.fake_data:SamplingPlusFakeData",
    "nearest-cells": "spatial.nearest_cells:NearestCellsMechanism",
    "nearest-places": "spatial.nearest_places:NearestPlacesMechanism",
    "tracs-c": "spatial.tracs_c:TraCSC",
    "tracs-c-sphere": "spatial.tracs_c_sphere:TraCSCSphere",
    "tracs-d": "spatial.tracs_d:TraCSD",
    "tracs-d-disc": "spatial.tracs_d_disc:TraCSDDisc",
    "trajectory": "spatial.trajectory:TrajectoryMechanism",
    "designed-places": "spatial.designed_places:DesignedPlaces",
    "strawman": "spatial.strawman:Strawman",
    "planar-laplace": "spatial.planar_laplace:PlanarLaplace",
    "exponential-cells": "spatial.exponential_cells:ExponentialCells",
    "l-srr": "spatial.l_srr:LSRR",
    "pem": "words.pem:PrefixExtending",
    "tree-hist": "words.tree_hist:TreeHist",
}


FIELDS = {"mechanism", "domain", "epsilon", "parameters"}
"""What a recipe has."""
MOST_NESTED = 8
"""Recipes inside recipes: a record of trajectories of steps needs three."""


def names() -> list[str]:
    """All registered names, in the order of the families."""
    return list(REGISTRY)


def mechanism_class(name: str) -> type[Mechanism]:
    """The class registered under a name."""
    if name not in REGISTRY:
        import difflib  # here, because only a misspelt name needs it

        near = difflib.get_close_matches(str(name), REGISTRY, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`deniable mechanisms` lists them all"
        raise UnknownMechanism(f"no mechanism is called {str(name)[:60]!r}; {hint}")
    module, _, attribute = REGISTRY[name].partition(":")
    found: type[Mechanism] = getattr(importlib.import_module(f"deniable.core.mechanisms.{module}"), attribute)
    return found


def make_mechanism(name: str, **recipe: Any) -> Any:
    """A mechanism by its name: `make_mechanism("k-rr", domain=Categories(5), epsilon=1)`."""
    return mechanism_class(name)(**recipe)


def all_mechanisms() -> list[type[Mechanism]]:
    """Every registered class."""
    return [mechanism_class(name) for name in REGISTRY]


def mechanism_from_recipe(recipe: dict[str, Any], *, allow_large: bool = False) -> Mechanism:
    """Rebuild a mechanism from its canonical JSON form, checking every part of it.

    Levels above 20 are refused, as they are in your own code: a recipe cannot allow them for itself. Pass
    `allow_large` to read one that nobody will answer by, for example to audit it or to estimate from old reports.
    """
    return _rebuilt(recipe, allow_large, MOST_NESTED)


def _rebuilt(recipe: object, allow_large: bool, levels: int) -> Mechanism:
    if not isinstance(recipe, dict) or set(recipe) != FIELDS:
        raise InvalidParameter("a recipe has exactly the fields mechanism, domain, epsilon and parameters")
    if not isinstance(recipe["mechanism"], str) or not isinstance(recipe["parameters"], dict):
        raise InvalidParameter("a recipe's mechanism is a name and its parameters are an object")
    if levels == 0:
        raise InvalidParameter(f"a recipe holds at most {MOST_NESTED} recipes inside one another")
    found = mechanism_class(recipe["mechanism"])
    parameters = {name: _inner(value, allow_large, levels - 1) for name, value in recipe["parameters"].items()}
    try:
        return found.from_recipe({**recipe, "parameters": parameters}, allow_large=allow_large)
    except (TypeError, KeyError, AttributeError, ArithmeticError):
        raise InvalidParameter(f"the recipe of {recipe['mechanism']} has missing, unknown or ill-typed parameters") from None


def _inner(value: Any, allow_large: bool, levels: int) -> Any:
    """Recipes among the parameters, or in an object of them, as the mechanisms they describe."""
    if not isinstance(value, dict):
        return value
    if set(value) == FIELDS:
        return _rebuilt(value, allow_large, levels)
    return {
        name: _rebuilt(item, allow_large, levels) if isinstance(item, dict) and set(item) == FIELDS else item
        for name, item in value.items()
    }
