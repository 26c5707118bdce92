"""The benchmarks are scripts: their folders go where a script's own folder would be."""

from __future__ import annotations

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Numba imports the package `coverage` if there is one, and must not come upon benchmarks/coverage.py instead.
sys.modules.setdefault("coverage", None)  # type: ignore[arg-type]
for place in (BENCHMARKS, BENCHMARKS / "peers"):
    if str(place) not in sys.path:
        sys.path.append(str(place))
