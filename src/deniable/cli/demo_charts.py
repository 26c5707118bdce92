"""The demo's charts, drawn beside the rest: another core draws one question while the next is estimated."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.cli.demo_questions import Finding

ENDINGS = (".svg", ".png", ".html")


class Drawing:
    """Draws the charts of findings, in their order."""

    def __init__(self, directory: Path, worker: ThreadPoolExecutor) -> None:
        self._directory, self._worker = directory, worker
        self._files: list[Future[list[str]]] = []

    def __call__(self, finding: Finding) -> Finding:
        """Begin to draw what was found, and hand it back."""
        for name, chart in finding.charts.items():
            self._begin(name, chart)
        return finding

    def finished(self) -> list[str]:
        """Every file, when all are written; among them what a better window is worth."""
        from deniable.charts import error_chart
        from deniable.core import OGPM, Window

        better = error_chart(
            {"window": Window(epsilon=8), "ogpm (published)": OGPM(epsilon=8)},
            title="The right window halves the worst squared error",
            subtitle="numbers from 0 to 1 at ε = 8",
        )
        self._begin("window-error", better)
        return [file for files in self._files for file in files.result()]

    def _begin(self, name: str, chart: Any) -> None:
        self._files.append(self._worker.submit(self._save, name, chart))

    def _save(self, name: str, chart: Any) -> list[str]:
        from deniable.charts import save

        return [str(save(chart, self._directory / f"{name}{ending}")) for ending in ENDINGS]


@contextmanager
def drawing(directory: Path) -> Iterator[Drawing]:
    """One thread that draws, which is enough: the converter draws one chart at a time. Ended when the block ends."""
    worker = ThreadPoolExecutor(1, thread_name_prefix="charts")
    try:
        yield Drawing(directory, worker)
    finally:
        worker.shutdown(cancel_futures=True)
