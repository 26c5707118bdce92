"""What every result can do: be printed in a line, shown as a table in a notebook, become a frame, be drawn.

Nothing is imported before it is asked for: a device has results too, and only the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FRAMES = ("pandas", "polars", "pyarrow")
SHOWN = 30
"""Rows of a table in a notebook; `to_frame()` has all of them."""


class Result:
    """Rows with names, in one order; a class says its rows and its caption, and has the rest from here."""

    __slots__ = ()

    def _rows(self) -> Sequence[dict[str, Any]]:
        raise NotImplementedError

    def _shown_rows(self) -> Sequence[dict[str, Any]]:
        """What a notebook shows; fewer columns where the others take long to work out."""
        return self._rows()

    def _caption(self) -> str:
        return repr(self).strip("<>")

    def to_frame(self, backend: str | None = None) -> Any:
        """The rows as a frame of pandas, polars or pyarrow; the first of them that is installed, unless you name one."""
        from deniable._extras import required

        narwhals = required("narwhals")
        rows = self._rows()
        columns = {name: [row.get(name) for row in rows] for name in (rows[0] if rows else {})}
        return narwhals.from_dict(columns, backend=_installed() if backend is None else backend).to_native()

    def plot(self) -> Any:
        """The usual chart of such a result, as an Altair chart; `deniable.charts.save(chart, path)` writes it."""
        from deniable._extras import required

        return required("deniable.charts").result_chart(self)

    def _repr_html_(self) -> str:
        import html

        rows = self._shown_rows()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (rows[0] if rows else {}))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row.values()) + "</tr>" for row in rows[:SHOWN]
        )
        more = f"<p>… and {len(rows) - SHOWN:,} more rows; to_frame() has them all</p>" if len(rows) > SHOWN else ""
        return f"<table><caption>{html.escape(self._caption())}</caption><tr>{head}</tr>{body}</table>{more}"


def counted(count: int, what: str) -> str:
    """A number with its noun, in the singular where it is one.

    >>> counted(1, "report"), counted(5000, "report"), counted(0, "category")
    ('1 report', '5,000 reports', '0 categories')
    """
    many = f"{what[:-1]}ies" if what.endswith("y") and what[-2:-1] not in tuple("aeiou") else f"{what}s"
    return f"{count:,} {what if count == 1 else many}"


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:.6g}"


def _installed() -> str:
    import importlib

    for name in FRAMES:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        return name
    from deniable.errors import MissingPackage

    raise MissingPackage("a frame needs pandas, polars or pyarrow: pip install pandas")
