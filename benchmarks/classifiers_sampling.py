"""One sample of a network's answers for every mechanism and epsilon, against new draws for each of them.

    python benchmarks/classifiers_sampling.py [--width 0.005] [--features 2] [--mechanisms ogpm,sw,…] [--full] [--json]

Both ways must give 95 % intervals no wider than --width, for every mechanism at epsilon 1 to 8. New draws use Clopper and
Pearson's interval, with the least number of reports that makes it as narrow as the widest shared one. The network is a
torch module with 6 inputs and two hidden layers of 512. Times are processor time on one core. New draws are timed on
5,000 reports per setting and scaled to the number needed; --full draws them all. How much is saved falls with the number
of sensitive features and rises as intervals get narrower.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.estimators import clopper_pearson
from deniable.studies import Feature, Setting, as_model, drawn, groups, settings, shared, study

ALL = ("ogpm", "sw", "k-rr", "exponential", "laplace", "gaussian")
MOST = 1 << 22
TIMED = 5_000


def network(hidden: int) -> Any:
    """A network that tells a bent boundary apart, trained for a second or two."""
    import torch

    torch.set_num_threads(1)  # both ways on one core, measured in processor time
    torch.manual_seed(0)
    rows = torch.rand(4000, 6)
    labels = (rows[:, 0] + 0.5 * torch.sin(5 * rows[:, 1]) + 0.3 * rows[:, 2] > 0.9).long()
    layers = [torch.nn.Linear(6, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, hidden), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers, torch.nn.Linear(hidden, 2))
    steps = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(120):
        steps.zero_grad()
        torch.nn.functional.cross_entropy(module(rows), labels).backward()
        steps.step()
    return module.eval()


def needed(rho: float, width: float) -> int:
    """The least number of draws for which Clopper and Pearson's interval is narrow enough at this ρ."""
    low, high = 1, MOST
    while low < high:
        n = (low + high) // 2
        ends = clopper_pearson(np.array([round(rho * n)]), n, 0.025)
        low, high = (low, n) if float(ends[1][0] - ends[0][0]) <= width else (n + 1, high)
    return low


def measure(width: float, features: int, mechanisms: Sequence[str], hidden: int, full: bool) -> dict[str, Any]:
    """Seconds of both ways, and how often the network was asked."""
    names = {i: Feature(0, 1) for i in range(features)}
    question = study(as_model(network(hidden)), np.array([[0.55, 0.4, 0.5, 0.3, 0.6, 0.2]]), names)
    plain = [name for name in mechanisms if name != "gaussian"]
    chosen: list[Setting] = settings(plain, range(1, 9), question.features)
    if "gaussian" in mechanisms:
        chosen += settings(["gaussian"], range(1, 9), question.features, gaussian={"delta": "0.1"})
    values, answer = question.values(0), question.answer(0)
    for setting in chosen:  # build the channels and compile the kernels: both ways need them
        drawn(answer, values, setting, 10)
    shared(answer, values, chosen, evaluations=MOST, width=0.2)

    ours = float("inf")
    for _ in range(3):
        begin = time.process_time()
        found = shared(answer, values, chosen, evaluations=MOST, width=width)
        ours = min(ours, time.process_time() - begin)
    widths = [high - low for low, high in (part.interval(0.05) for part in found)]
    asked = sum(found[group.members[0]].evaluations for group in groups(chosen, values))

    theirs, draws = 0.0, 0
    for setting, part in zip(chosen, found, strict=True):
        n = needed(min(max(part.estimate, 0.0), 1.0), max(widths))
        timed = n if full else min(n, TIMED)
        begin = time.process_time()
        drawn(answer, values, setting, timed).interval(0.05)
        theirs += (time.process_time() - begin) * n / timed
        draws += n
    return {
        "mechanisms": list(mechanisms),
        "settings": len(chosen),
        "sensitive_features": features,
        "width": width,
        "widest_shared": max(widths),
        "answers_drawn": draws,
        "answers_shared": asked,
        "fewer_answers": draws / asked,
        "seconds_drawn": theirs,
        "seconds_shared": ours,
        "faster": theirs / ours,
        "required": 20,
        "met": theirs / ours >= 20,
    }


def main() -> None:
    """Print the rows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--width", type=float, default=0.005)
    arguments.add_argument("--features", type=int, default=2)
    arguments.add_argument("--hidden", type=int, default=512)
    arguments.add_argument("--mechanisms", default=",".join(ALL))
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--json", action="store_true")
    asked = arguments.parse_args()
    found = measure(asked.width, asked.features, asked.mechanisms.split(","), asked.hidden, asked.full)
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    for name, value in found.items():
        print(f"{name:28} {value:.4g}" if isinstance(value, float) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
