"""The numbers behind the pictures: which (p, rho) are private, what variance they have, what colluders do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from deniable.core import Epsilon, EpsilonLike, Pair, correlation_floor
from deniable.studies.joint.accounting import account, secret_pairing_ratio
from deniable.studies.joint.arguments import check_colluders, check_ones, check_users
from deniable.studies.joint.optimal import optimum
from deniable.studies.joint.parameters import published_pair
from deniable.studies.joint.secret_pairing import printed_ratio
from deniable.studies.joint.variance import variance_joint, variance_randomized_response

Row = dict[str, Any]
POINTS = 101


def heat_map(epsilon: EpsilonLike, n: int, m: int, ones: int, cells: int = 40) -> list[Row]:
    """The variance on a grid of p in (1/2, p_RR] and rho in [-1, 0] (Figure 4.1).

    Each row is a cell with its ends, whether it is private with a secret pairing (exactly), and whether the
    printed constraint says so. Tables that do not exist are left out.
    """
    level = Epsilon(epsilon)
    check_users(n)
    check_colluders(m, n)
    check_ones(ones, n)
    lower = level.bounds()[0]
    top = min(Fraction(49, 50), lower / (1 + lower) + Fraction(1, 25))
    width, height = (top - Fraction(13, 25)) / cells, Fraction(1, cells)
    rows = []
    for column in range(cells):
        p = Fraction(13, 25) + width * (column + Fraction(1, 2))
        for line in range(cells):
            rho = -height * (line + Fraction(1, 2))
            if rho < correlation_floor(p):
                continue
            pair = Pair.exactly(p, rho)
            exact, printed = secret_pairing_ratio(pair, n, m), printed_ratio(pair, n, m)
            rows.append(
                {
                    "p": float(p - width / 2),
                    "p_to": float(p + width / 2),
                    "rho": float(rho - height / 2),
                    "rho_to": float(rho + height / 2),
                    "variance": float(variance_joint(pair, n, ones)),
                    "private": exact is not None and level.allows(exact),
                    "private_as_printed": printed is not None and level.allows(printed),
                }
            )
    return rows


def variance_by_colluders(epsilon: EpsilonLike, n: int, ones: int, colluders: Sequence[int]) -> list[Row]:
    """The best variance at each number of colluders, beside the heuristic and plain randomized response (Figure 4.2)."""
    heuristic = published_pair(epsilon)
    plain = variance_randomized_response(float(Epsilon(epsilon)), n)
    rows: list[Row] = []
    for m in colluders:
        best = optimum(epsilon, n, m, ones)
        variances = {
            "best with a secret pairing": best.variance,
            "best by the printed constraint": best.printed_variance,
            "published heuristic (not private for m > 0)": float(variance_joint(heuristic, n, ones)),
            "plain randomized response": plain,
        }
        rows += [{"colluders": m, "variance": value, "table": name} for name, value in variances.items()]
    return rows


def variance_by_ones(tables: Mapping[str, Pair], n: int, points: int = POINTS) -> list[Row]:
    """The variance over the share of ones, one curve per table (Figures 4.2 and B.1)."""
    check_users(n)
    counts = sorted({round(n * place / (points - 1)) for place in range(points)})
    return [
        {"share": count / n, "variance": float(variance_joint(pair, n, count)), "table": name}
        for name, pair in tables.items()
        for count in counts
    ]


def epsilon_by_colluders(pair: Pair, n: int, points: int = 41) -> list[Row]:
    """Every privacy number over the number of colluders; infinite ones are left out."""
    check_users(n)
    rows: list[Row] = []
    for m in sorted({round((n - 1) * place / (points - 1)) for place in range(points)}):
        levels = account(pair, n, m)
        numbers = {
            "alone": levels.epsilon_marginal,
            "secret pairing": levels.epsilon_secret_pairing,
            "known pairing": levels.epsilon_known_pairing,
            "as printed": levels.epsilon_printed,
        }
        rows += [
            {"share": m / (n - 1), "epsilon": value, "number": name} for name, value in numbers.items() if math.isfinite(value)
        ]
    return rows
