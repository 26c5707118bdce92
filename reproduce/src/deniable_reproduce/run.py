"""Computes artifacts, keeps their results as files, and uses them again while nothing that matters has changed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import altair
import numpy as np
import scipy

import deniable
from deniable import __version__
from deniable.charts import save
from deniable.errors import MissingPackage
from deniable_reproduce.agreement import disagreements
from deniable_reproduce.artifact import FILES, Artifact, Claim, MissingData, Published, Result, Run
from deniable_reproduce.catalogue import find
from deniable_reproduce.verdict import NOT_COMPARED, RELEASED, Verdict

OUTSIDE = ("cli", "collector", "surveys")
"""Packages no artifact is computed with: changing them leaves every result as it is."""


@dataclass(frozen=True)
class Done:
    """One artifact, computed now or before."""

    artifact: Artifact
    result: Result
    verdicts: list[Verdict]
    seconds: float
    kept: bool
    pictures: dict[str, Path] = field(default_factory=dict)

    def count(self, standing: str) -> int:
        """How many published numbers and claims are confirmed, corrected, improved on, or open."""
        return sum(verdict.standing == standing for verdict in self.verdicts)

    def as_released(self, standing: str) -> int:
        """How many of these come out with the setting of the released program, and only so."""
        return sum(verdict.verdict == RELEASED and verdict.standing == standing for verdict in self.verdicts)

    @property
    def not_compared(self) -> int:
        """How many had no data."""
        return sum(verdict.verdict == NOT_COMPARED for verdict in self.verdicts)

    @property
    def unexplained(self) -> int:
        """How many differ without a reason."""
        return sum(not verdict.explained for verdict in self.verdicts)

    @property
    def contradictions(self) -> list[str]:
        """Where a reason says something else than the numbers beside it."""
        return [f"{verdict.name}: {one}" for verdict in self.verdicts for one in disagreements(verdict)]

    def as_json(self) -> dict[str, Any]:
        """What a program wants to know."""
        return {
            "name": self.artifact.name,
            "title": self.artifact.title,
            "source": self.artifact.source,
            "note": self.artifact.note,
            "verdicts": [verdict.as_json() for verdict in self.verdicts],
            "pictures": {name: str(path) for name, path in self.pictures.items()},
            "seconds": round(self.seconds, 3),
            "kept": self.kept,
            "result": self.result,
        }


@dataclass(frozen=True)
class Skipped:
    """An artifact that could not be computed here, and the sentence that says why."""

    name: str
    why: str
    expected: bool
    """Something is simply not here: a data file, an optional package. False when the artifact itself failed."""


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {
        "deniable": __version__,
        "code": code_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "altair": altair.__version__,
    }


@cache
def code_version() -> str:
    """A fingerprint of every file that a result can depend on."""
    digest = hashlib.sha256()
    for root in (Path(deniable.__file__).parent, Path(__file__).parent):
        for path in sorted(root.rglob("*.py")):
            place = path.relative_to(root)
            if place.parts[0] not in OUTSIDE:
                digest.update(f"{root.name}/{place}".encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def identity(artifact: Artifact, run: Run) -> dict[str, Any]:
    """What a kept result must agree with to be used again."""
    files = {}
    for name in (*artifact.data, *artifact.optional):
        path = None if run.data is None else run.data / name
        files[name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path is not None and path.is_file() else None
    return {
        "name": artifact.name,
        "size": "full" if run.full else "quick",
        "randomness": run.randomness,
        "code": code_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "torch": importlib.util.find_spec("torch") is not None,
        "data": files,
    }


def plain(item: Any) -> Any:
    """The same as numbers, texts, lists and dictionaries of JSON; what is not finite becomes its name as a text."""
    if isinstance(item, dict):
        return {str(key): plain(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [plain(value) for value in item]
    if isinstance(item, np.ndarray):
        return plain(item.tolist())
    if isinstance(item, np.generic):
        return plain(item.item())
    if isinstance(item, float) and not math.isfinite(item):
        return str(item)
    return item


def compute(artifact: Artifact, run: Run) -> Result:
    """The artifact's numbers, in the form in which a file keeps them, and the data files that were read for them."""
    own = replace(run, opened=set())
    result: Result = plain(artifact.compute(own))
    judged: list[Published | Claim] = [*artifact.published, *artifact.claims]
    declared = {*artifact.data, *artifact.optional, *(name for one in judged for name in one.needs or ())}
    if undeclared := own.opened - declared:
        raise ValueError(
            f"{artifact.name} rests on {', '.join(sorted(undeclared))}, which it does not name: add it to `data` or `optional`"
        )
    return {**result, FILES: sorted(own.opened)}


def make(name: str, run: Run, output: Path, *, again: bool = False, pictures: bool = True) -> Done:
    """Compute an artifact (or take the kept result), judge it and draw it."""
    artifact = find(name)
    kept_at = output / "results" / f"{artifact.name}.json"
    wanted = identity(artifact, run)
    kept = None if again else _kept(kept_at, wanted)
    if kept is None:
        begin = time.perf_counter()
        steps = _steps(output, artifact, wanted)
        result = compute(artifact, replace(run, steps=steps) if run.full else run)
        seconds = time.perf_counter() - begin
        _keep(kept_at, {"identity": wanted, "seconds": seconds, "result": result})
        shutil.rmtree(steps.parent, ignore_errors=True)
    else:
        result, seconds = kept["result"], float(kept["seconds"])
    drawn = draw(artifact, result, output / "pictures") if pictures else {}
    return Done(artifact, result, artifact.verdicts(result), seconds, kept is not None, drawn)


def make_all(
    chosen: list[str], run: Run, output: Path, *, again: bool = False, progress: Callable[[str], None] = lambda name: None
) -> Iterator[Done | Skipped]:
    """Every artifact in turn; one whose data is missing, or that fails, is skipped with a sentence."""
    for name in chosen:
        progress(name)
        try:
            yield make(name, run, output, again=again)
        except (MissingData, MissingPackage) as missing:
            yield Skipped(name, str(missing), expected=True)
        except Exception as error:  # one broken artifact must not hide the others
            yield Skipped(name, f"{type(error).__name__}: {error}", expected=False)


def draw(artifact: Artifact, result: Result, folder: Path) -> dict[str, Path]:
    """The artifact's pictures as SVG files."""
    if artifact.draw is None:
        return {}
    charts = dict(artifact.draw(result))
    pictures = {}
    for key, chart in charts.items():
        ending = "" if len(charts) == 1 else "-" + re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
        pictures[key] = save(chart, folder / f"{artifact.name}{ending}.svg")
    return pictures


def _steps(output: Path, artifact: Artifact, wanted: dict[str, Any]) -> Path:
    """Where long parts of this very computation are kept until it is done."""
    mark = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:16]
    return output / "results" / "steps" / artifact.name / mark


def _kept(path: Path, wanted: dict[str, Any]) -> dict[str, Any] | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) and kept.get("identity") == wanted and "result" in kept else None


def _keep(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_text(json.dumps(document, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    half.replace(path)  # a run that is stopped leaves whole files only
