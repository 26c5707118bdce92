"""Table 7.1: mechanisms, classifiers and datasets of the case studies, as text, with their names here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core import make_mechanism, mechanism_class
from deniable_reproduce.artifact import Artifact, Claim, Result, Run

MECHANISMS = {
    "Laplace": "laplace",
    "Gaussian (Theorem 18)": "gaussian",
    "PM": "ogpm",
    "SW": "redesigned-sw",
    "Exponential": "exponential",
    "k-RR": "k-rr",
}
OTHERS = (
    ("classifier", "Logistic Regression, Random Forest (few features); Neural Network (many)"),
    ("dataset", "Stroke Prediction, Bank Customer Attrition (few features); MNIST 7 × 7 (many)"),
)


def compute(run: Run) -> Result:
    """Every mechanism of the table is registered here; and how far the answers of the cited ones reach."""
    rows = [{"kind": "mechanism", "as printed": name, "name here": mechanism_class(own).name} for name, own in MECHANISMS.items()]
    rows += [{"kind": kind, "as printed": text, "name here": ""} for kind, text in OTHERS]
    mechanisms = {name: make_mechanism(name, epsilon=1) for name in ("pm", "ogpm", "sw", "redesigned-sw")}
    return {"rows": rows, "answers up to": {name: float(one.decode(one.channel.outputs - 1)) for name, one in mechanisms.items()}}


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """The printed table and our names."""
    return list(result["rows"])


ARTIFACT = Artifact(
    name="table-7.1",
    title="Mechanisms, classifiers and datasets",
    source="Dissertation, Table 7.1",
    compute=compute,
    table=table,
    claims=(
        Claim(
            "the mechanisms are those of the papers they cite",
            "Table 7.1",
            lambda r: all(
                r["answers up to"][MECHANISMS[name]] == r["answers up to"][cited] for name, cited in (("PM", "pm"), ("SW", "sw"))
            ),
            "“PM” and “SW” of chapter 7 (Definitions 24 and 25) are not the cited mechanisms on [−C, C] and [−b, 1 + b], "
            "but OGPM and the redesigned SW on [0, 1]: `ogpm` and `redesigned-sw` here, beside the cited `pm` and `sw`.",
            lambda r: {f"largest answer of {name}, ε = 1": largest for name, largest in r["answers up to"].items()},
        ),
    ),
)
