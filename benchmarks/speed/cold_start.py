"""From a fresh process to the first report: import, build the mechanism, privatise one value."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from typing import Any

from speed.environments import NAIVE, OTHERS, OURS, PLACE, NotInstalled, Peer, python_of

K_RR = {
    OURS.name: "import deniable\ndeniable.KaryRandomizedResponse(domain=deniable.Categories(100), epsilon=1).randomize(3)",
    "pure-ldp": "from pure_ldp.frequency_oracles.direct_encoding import DEClient\nDEClient(epsilon=1, d=100).privatise(4)",
    "multi-freq-ldpy": "from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client\nGRR_Client(3, 100, 1.0)",
    "opendp": (
        "import opendp.prelude as dp\ndp.enable_features('contrib')\ndp.m.make_randomized_response(list(range(100)), 0.0267)(3)"
    ),
    "diffprivlib": ("from diffprivlib.mechanisms import Binary\nBinary(epsilon=1, value0='no', value1='yes').randomise('no')"),
}
HIDE_NUMPY = "sys.modules['numpy'] = None\n"
"""opendp loads numpy when it finds it; someone who installed opendp alone does not have it."""
TIMED = "import sys, time\nbegin = time.perf_counter()\n{code}\nprint(time.perf_counter() - begin)"


def started(python: str, code: str) -> tuple[float, float, float]:
    """Seconds from import to report, of the whole process, and of processor time."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Everyone may keep compiled bytecode, as an installed package does.
    left_out = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    clean = {name: value for name, value in os.environ.items() if name not in left_out}
    clean["PYTHONPYCACHEPREFIX"] = str(PLACE / "bytecode")
    done = subprocess.run(
        [python, "-c", TIMED.format(code=code)], capture_output=True, text=True, check=True, timeout=180, env=clean
    )
    whole, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(done.stdout.splitlines()[-1]), whole, processor


def cold_starts(repeats: int) -> list[dict[str, Any]]:
    """One row per package, in turns."""
    cases: list[tuple[str, Peer, str]] = [("Python alone", NAIVE, "pass")]
    cases += [(peer.name, peer, K_RR[peer.name]) for peer in (OURS, *OTHERS)]
    cases.append(("opendp, numpy hidden", next(peer for peer in OTHERS if peer.name == "opendp"), HIDE_NUMPY + K_RR["opendp"]))
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name, _, _ in cases}
    failed: dict[str, str] = {}
    for _ in range(repeats + 1):  # The first one warms the disk and writes the bytecode.
        for name, peer, code in cases:
            if name in failed:
                continue
            try:
                runs[name].append(started(python_of(peer), code))
            except NotInstalled as error:
                failed[name] = f"not installed: {error}"
            except (subprocess.SubprocessError, OSError, ValueError, IndexError) as error:
                failed[name] = type(error).__name__
    rows: list[dict[str, Any]] = []
    for name, found in runs.items():
        if name in failed or not found[1:]:
            rows.append({"package": name, "failed": failed.get(name, "no run")})
        else:
            chosen = statistics.median if name == OURS.name else min  # the others at their best
            first, whole, processor = (chosen(column) for column in zip(*found[1:], strict=True))
            rows.append({"package": name, "first_report": first, "whole_process": whole, "processor": processor})
    return rows
