"""The engine of a cluster: every task folds its files to one part, and a tree of tasks merges the parts."""

from __future__ import annotations

import heapq
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from deniable.batch.engines.engine import Engine, Progress
from deniable.batch.engines.part import Folded, Part, check_mergeable
from deniable.batch.engines.pieces import Piece, pieces_of
from deniable.batch.engines.source import Source, is_remote, local_files
from deniable.batch.engines.spark_session import session
from deniable.batch.engines.spark_tasks import folding_contents, folding_pieces, folding_rows, merging, randomizing, recipe_text
from deniable.core import Mechanism
from deniable.errors import DeniableError, InvalidParameter, OutOfDomain

FAN_IN = 32
"""How many parts one task of the merge tree takes, and the most that come to the driver."""
TASK_BYTES, LEAST_TASK_BYTES = 1 << 27, 1 << 25
"""A task that is smaller costs more to hand out than it takes to do."""
TASKS_PER_CORE = 4
"""Several tasks per core, so that one slow task does not keep the others waiting for long."""
WHOLE = 1 << 28
"""Remote files up to this size travel whole; workers open larger ones by themselves and read what they need."""
READS = ("auto", "workers", "spark")
_ONE_FILE = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}
_POLL = 0.5
_RAISED = re.compile(r"[\w.]+(Error|Exception): ")


class Spark(Engine):
    """Folds on a Spark cluster, by the same code on the same Parquet files as `Local`.

    `master` is the cluster's address (`local[*]` by default); a session that is already running is used as it is. Executors
    need this package. `reads` says who opens the files: `workers` by their own path or address, `spark` by its own file
    systems and keys, handing over whole files; `auto` takes workers for this machine's paths, S3 and large files.
    """

    def __init__(self, master: str | None = None, *, reads: str = "auto", options: Mapping[str, str] | None = None) -> None:
        if reads not in READS:
            raise InvalidParameter(f"reads must be one of {', '.join(READS)}")
        self.master, self.reads, self.options = master, reads, dict(options or {})

    def read(self, source: Source, progress: Progress | None = None) -> Folded:
        """The sums of all that can be used, and what could not be."""
        check_mergeable(source.mechanism)
        tell = progress or (lambda done: None)
        arguments = (recipe_text(source.mechanism), source.column, source.base, source.strict)
        pieces = [] if self.reads == "spark" else pieces_of(source)
        with session(self.master, self.options) as spark:
            through = source.remote if self.reads != "spark" else _addresses(source)
            listed = _listed(spark, through) if through else []
            whole = [piece for piece in listed if self.reads == "spark" or (self.reads == "auto" and piece.size <= WHOLE)]
            pieces += [piece for piece in listed if piece not in whole]
            part = Part.empty(source.mechanism)
            with _watched(spark, sum(piece.size for piece in (*pieces, *whole)), tell), _in_one_line():
                if pieces:
                    shares = _shares(spark, pieces)
                    numbered = spark.range(0, len(shares), 1, len(shares))
                    folded = numbered.mapInArrow(folding_pieces(shares, *arguments), "part binary")
                    part = part.merge(_merged(source.mechanism, folded, len(shares)))
                if whole:
                    with _settings(spark, _ONE_FILE):
                        files = spark.read.format("binaryFile").load([piece.path for piece in whole]).select("path", "content")
                        folded = files.mapInArrow(folding_contents(*arguments), "part binary")
                        part = part.merge(_merged(source.mechanism, folded, len(whole)))
        return Folded.of(part, len({piece.path for piece in (*pieces, *whole)}), strict=source.strict)

    def read_table(
        self, mechanism: Mechanism, table: Any, *, column: str = "output", base: int = 16, strict: bool = False
    ) -> Folded:
        """Fold a Spark DataFrame of any origin: rows pass through Spark, which takes longer than reading files.

        A column `recipe`, where there is one, must hold the recipe's fingerprint in every row.
        """
        check_mergeable(mechanism)
        if column not in table.columns:
            raise InvalidParameter(f"the table has no column {column[:60]!r} with the reports' outputs")
        chosen = table.select(*[name for name in (column, "recipe") if name in table.columns])
        if chosen.schema[column].dataType.typeName() == "decimal":
            chosen = chosen.withColumn(column, chosen[column].cast("long"))  # Spark's word for unsigned whole numbers
        folded = chosen.mapInArrow(folding_rows(recipe_text(mechanism), column, base, strict), "part binary")
        with _in_one_line():
            return Folded.of(_merged(mechanism, folded, chosen.rdd.getNumPartitions()), 0, strict=strict)

    def randomize(self, mechanism: Mechanism, values: Any, target: str, *, columns: Sequence[str] = ("value",)) -> None:
        """Draw a report for every row of Parquet files or of a DataFrame, and write them to the directory `target`.

        For simulations: whoever holds true values on a cluster has no local privacy to give. Every batch draws from its own
        keystream, keyed by its worker's system. Only tasks that complete are kept, so a task that is run again leaves one report
        per row. Nothing is returned that could be evaluated, and so drawn, a second time.
        """
        wide = mechanism.channel.outputs > 1 << 63
        schema = f"recipe string, output {'string' if wide else 'long'}"
        with session(self.master, self.options, light=False) as spark:
            table = (
                values if hasattr(values, "mapInArrow") else spark.read.parquet(*([values] if isinstance(values, str) else values))
            )
            if missing := [name for name in columns if name not in table.columns]:
                raise InvalidParameter(f"columns: the values have no column {missing[0][:60]!r}")
            task = randomizing(recipe_text(mechanism), list(columns), wide)
            try:
                table.select(*columns).mapInArrow(task, schema).write.parquet(target)
            except Exception as error:
                raise _reason(error, mechanism, target) from None


def _addresses(source: Source) -> tuple[str, ...]:
    """All paths as Spark's own file systems know them."""
    here = local_files([path for path in source.paths if not is_remote(path)])
    return (*[path for path in source.paths if is_remote(path)], *[f"file://{path}" if path[0] == "/" else path for path in here])


def _listed(spark: Any, paths: Sequence[str]) -> list[Piece]:
    """Every file behind remote paths, as Spark's own file systems list them."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true").option("pathGlobFilter", "*")
    try:
        rows = reader.load(list(paths)).select("path", "length").collect()
    except Exception as error:
        raise InvalidParameter(f"Spark cannot list {', '.join(paths)[:200]}: {_first_line(error)}") from None
    return [Piece(row["path"], row["path"], row["length"]) for row in sorted(rows, key=lambda row: str(row["path"]))]


def _shares(spark: Any, pieces: Sequence[Piece]) -> list[str]:
    """What each task of its own will fold: pieces of about the same size together."""
    cores = spark.sparkContext.defaultParallelism
    size = sum(piece.size for piece in pieces)
    rounds = min(TASKS_PER_CORE, -(-size // (LEAST_TASK_BYTES * cores)))  # every core gets as many tasks as any other
    wanted = max(rounds * cores, -(-size // TASK_BYTES))
    return [json.dumps([asdict(piece) for piece in share]) for share in balanced(pieces, min(len(pieces), wanted))]


def balanced(pieces: Sequence[Piece], shares: int) -> list[list[Piece]]:
    """Pieces dealt out so that sizes come out even: each, the largest first, to the share that has least."""
    heap = [(0, place) for place in range(shares)]
    dealt: list[list[Piece]] = [[] for _ in range(shares)]
    for piece in sorted(pieces, key=lambda piece: (-piece.size, piece.path, piece.begin)):
        size, place = heapq.heappop(heap)
        dealt[place].append(piece)
        heapq.heappush(heap, (size + piece.size, place))
    return dealt


def _merged(mechanism: Mechanism, parts: Any, partitions: int) -> Part:
    """The parts of all partitions, of which there are at most so many, in levels of `FAN_IN` to 1, the last of them here."""
    recipe = recipe_text(mechanism)
    while partitions > FAN_IN:
        partitions = -(-partitions // FAN_IN)
        parts = parts.repartition(partitions).mapInArrow(merging(recipe), "part binary")
    merged = Part.empty(mechanism)
    for row in parts.collect():
        merged = merged.merge(Part.from_bytes(mechanism, bytes(row["part"])))
    return merged


@contextmanager
def _in_one_line() -> Iterator[None]:
    """What the cluster cannot do, without pages of its stack."""
    try:
        yield
    except DeniableError:
        raise
    except Exception as error:
        raise DeniableError(f"the Spark job failed: {_first_line(error)}") from error


@contextmanager
def _settings(spark: Any, wanted: Mapping[str, str]) -> Iterator[None]:
    """Other settings of a session for a while."""
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


@contextmanager
def _watched(spark: Any, size: int, tell: Callable[[int], None]) -> Iterator[None]:
    """Tell how much is done, as the share of tasks that completed in the stages that are running."""
    tracker, over = spark.sparkContext.statusTracker(), threading.Event()
    told = 0

    def watch() -> None:
        nonlocal told
        while not over.wait(_POLL):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            shares = [stage.numCompletedTasks / stage.numTasks for stage in stages if stage and stage.numTasks]
            now = int(size * min(shares, default=0.0))
            if now > told:
                tell(now - told)
                told = now

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        tell(size - told)


def _reason(error: Exception, mechanism: Mechanism, target: str) -> DeniableError:
    """Why drawing failed, without any private value: of an exception from a worker, only its kind is told."""
    text = str(error)
    if "OutOfDomain" in text:
        return OutOfDomain(f"a value is outside {mechanism.domain!r}; it is not shown because it is private. Clip or filter first")
    if "PATH_ALREADY_EXISTS" in text:
        return InvalidParameter(f"target: {target} exists already; name a new directory")
    return DeniableError(f"drawing reports on Spark failed ({type(error).__name__}); nothing was written that counts")


def _first_line(error: Exception) -> str:
    """What an exception says in one line; of one from a Python worker, the line below its stack."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    below = [line for line in lines if _RAISED.match(line)]
    return (below[-1] if below else next(iter(lines), type(error).__name__))[:200]
