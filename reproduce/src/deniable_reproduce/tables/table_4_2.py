"""Table 4.2: the joint probabilities of JRR for any p and correlation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from deniable.core import Pair
from deniable_reproduce.artifact import Artifact, Claim, Evidence, Result, Run

SETTINGS = (("4/5", "-1/5"), ("7/10", "-3/10"), ("4/5", "3/10"), ("3/4", "-1/3"), ("9/10", "1"))
"""p and ρ; the fourth is the least correlation 1 − 1/p, the fifth the largest."""


def compute(run: Run) -> Result:
    """The integer tables beside the printed formulas, exactly, and the correlation of the indicators."""
    rows = []
    for p_text, rho_text in SETTINGS:
        p, rho = Fraction(p_text), Fraction(rho_text)
        q = 1 - p
        pair = Pair.exactly(p, rho)
        ours = [Fraction(weight, pair.total) for weight in (pair.both, pair.one, pair.neither)]
        formulas = [p * p + rho * p * q, (1 - rho) * p * q, q * q + rho * p * q]
        correlation = (ours[0] - p * p) / (p * q)
        rows.append(
            {
                "p": p_text,
                "ρ": rho_text,
                "both truthful": float(ours[0]),
                "one lies (each)": float(ours[1]),
                "both lie": float(ours[2]),
                "same as printed": ours == formulas,
                "marginal is p": pair.truth == p,
                "correlation is ρ": correlation == rho,
            }
        )
    return {"numbers": {}, "rows": rows}


def _always(column: str) -> Callable[[Result], bool]:
    return lambda result: all(row[column] for row in result["rows"])


def _agreeing(column: str) -> Evidence:
    return lambda result: {
        "tables compared": len(result["rows"]),
        "tables that agree, by exact rationals": sum(row[column] for row in result["rows"]),
    }


def table(result: Result) -> Sequence[Mapping[str, Any]]:
    """One row per setting."""
    rows: list[Mapping[str, Any]] = result["rows"]
    return rows


ARTIFACT = Artifact(
    name="table-4.2",
    title="Joint reporting probability in JRR",
    source="Dissertation, Table 4.2",
    compute=compute,
    table=table,
    claims=tuple(
        Claim(text, "Table 4.2 and Section 4.3.1", _always(column), evidence=_agreeing(column))
        for text, column in (
            ("the four probabilities are p² + ρpq, (1 − ρ)pq twice, q² + ρpq", "same as printed"),
            ("each user tells the truth with probability p", "marginal is p"),
            ("ρ is the correlation of the two indicators", "correlation is ρ"),
        )
    ),
    note="Exact rationals, no rounding. For k > 2 categories the printed extension has correlation ρ/(k − 1), not ρ.",
)
