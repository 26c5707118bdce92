"""Sessions of Spark: started quietly, with what workers need, or taken as they are."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from deniable.errors import DeniableError, InvalidParameter, MissingPackage

LOCAL_CLUSTER = "local-cluster["
LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For Java that only hands out tasks: its second compiler and its parallel collector would cost more than they give."""
NEEDED = "the engine spark needs PySpark 4 and Java 17 or later: pip install 'deniable[spark]'"


def pyspark_sql() -> Any:
    """The package, or the one line that says how to get it."""
    try:
        return importlib.import_module("pyspark.sql")
    except ImportError:
        raise MissingPackage(NEEDED) from None


@contextmanager
def session(master: str | None, options: Mapping[str, str], *, light: bool = True) -> Iterator[Any]:
    """The session that is running, or one that lasts as long as the work."""
    sql = pyspark_sql()
    # A context belongs to the process, while each thread has an active session of its own, or none.
    context = importlib.import_module("pyspark").SparkContext._active_spark_context
    if context is None:
        running = started(master or "local[*]", options, light=light)
        try:
            yield running
        finally:
            running.stop()
        return
    if master not in (None, context.master):
        raise InvalidParameter(f"master is {master}, and a session on {context.master} is running; stop it, or use it")
    yield sql.SparkSession.builder.getOrCreate()


def started(master: str, options: Mapping[str, str] | None = None, *, light: bool = True) -> Any:
    """A new session. Workers run the Python that runs this, unless PYSPARK_PYTHON says otherwise.

    On this machine Java starts `light`, where its own speed does not matter; a cluster keeps the options its keeper gave it.
    """
    sql = pyspark_sql()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(master).appName("deniable")
    if master.startswith(LOCAL_CLUSTER):
        os.environ.setdefault("SPARK_HOME", os.path.dirname(importlib.import_module("pyspark").__file__ or ""))
    for key, value in {**usual_options(master, light=light), **(options or {})}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:
        # PySpark reports a missing Java, a wrong address and a refused connection in many ways; the first line says which.
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise DeniableError(f"Spark did not start on {master}: {first[:200]}. {NEEDED}") from None


def usual_options(master: str, *, light: bool) -> dict[str, str]:
    """What a session gets unless its options say otherwise."""
    options = {"spark.ui.enabled": "false", "spark.log.level": "FATAL", "spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):
        # A machine's own name may lead to an address that nobody listens at.
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        if light:
            options |= {"spark.driver.extraJavaOptions": LIGHT, "spark.executor.extraJavaOptions": LIGHT}
    return options
