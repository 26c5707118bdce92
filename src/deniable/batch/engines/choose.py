"""Engines by the names that people type."""

from __future__ import annotations

from deniable.batch.engines.engine import Engine
from deniable.batch.engines.local import Local
from deniable.batch.engines.spark import Spark
from deniable.errors import InvalidParameter

ENGINES = ("local", "spark")


def engine_by_name(name: str, master: str | None = None) -> Engine:
    """An engine; `master` is the address of a Spark cluster.

    >>> type(engine_by_name("local")).__name__
    'Local'
    """
    if name not in ENGINES:
        raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}")
    if name == "local" and master is not None:
        raise InvalidParameter("master is the address of a Spark cluster; use it with the engine spark")
    return Local() if name == "local" else Spark(master)
