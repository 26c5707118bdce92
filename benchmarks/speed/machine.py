"""What kind of machine this is: no names, no places."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Processor, cores, memory and system."""
    return {"processor": _processor(), "cores": os.cpu_count() or 1, "memory_gb": _memory(), "system": platform.system()}


def load() -> float:
    """How many processes wanted to run during the last minute."""
    return os.getloadavg()[0]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
