"""A virtual environment for each peer, made once and kept under .venv-peers/."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".venv-peers"
SCRIPTS = ROOT / "benchmarks" / "peers"
PATIENCE = 900
"""Seconds that an installation may take."""


@dataclass(frozen=True)
class Peer:
    """A package, what its environment needs, and the script that speaks for it."""

    name: str
    script: str
    requirements: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The script."""
        return SCRIPTS / self.script


OURS = Peer("deniable", "with_deniable.py")
ONE_CORE = Peer("deniable, one core", "with_deniable.py", arguments=("--one-core",))
NAIVE = Peer("naive numpy", "with_numpy.py")
OTHERS = (
    Peer("pure-ldp", "with_pure_ldp.py", ("pure-ldp==1.2.0", "xxhash<4", "scikit-learn", "statsmodels", "scipy")),
    Peer(
        "multi-freq-ldpy",
        "with_multi_freq_ldpy.py",
        ("multi-freq-ldpy==0.2.5", "xxhash<4", "scikit-learn", "statsmodels", "scipy"),
    ),
    Peer("opendp", "with_opendp.py", ("opendp==0.16.*", "numpy")),
    Peer("diffprivlib", "with_diffprivlib.py", ("diffprivlib==0.6.6", "scikit-learn==1.8.*")),
)


class NotInstalled(Exception):
    """The environment of a peer cannot be made; the text says why."""


def python_of(peer: Peer, place: Path = PLACE) -> str:
    """The interpreter that runs the peer: this one for ourselves, else that of its own environment."""
    if not peer.requirements:
        return sys.executable
    home = place / peer.name
    python = home / "bin" / "python"
    stamp = home / f"ready-{hashlib.sha256(' '.join(peer.requirements).encode()).hexdigest()[:12]}"
    if not stamp.exists():
        place.mkdir(parents=True, exist_ok=True)
        (place / ".gitignore").write_text("*\n")
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements])
        stamp.touch()
    return str(python)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(type(error).__name__) from None
    if done.returncode:
        lines = (
            [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines() or ["no message"]
        )
        raise NotInstalled(lines[-1].replace(str(ROOT), ".").strip()[:200])
