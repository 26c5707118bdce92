"""Draw the picture of every mechanism and put them on sheets: python docs/contact_sheet.py [DIRECTORY]

The sheets in docs/images are made by this, family by family; look at them after a change of a chart.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import vl_convert

import deniable
from deniable.charts import mechanism_chart
from deniable.core import Categories, Mechanism, Rectangle, Trajectory, mechanism_class
from deniable.errors import DeniableError

WIDTH, GAP = 430, 16
COLUMNS, WIDE_COLUMNS = 4, 2
"""Pictures side by side; fewer where a picture has several parts."""
CLEARER: dict[str, dict[str, Any]] = {
    "polar": {"epsilon": 6},  # at 2 all of epsilon is spent on the direction, and the distance is a flat line
    "planar-laplace": {"epsilon": 12},  # at 2 nearly all reports are clipped to the corners
    "hierarchy": {"domain": Categories(6), "epsilon": 2, "fan_outs": [2, 3]},
    "urr": {"domain": Categories(5), "epsilon": 2, "sensitive": [0, 1]},
    "urap": {"domain": Categories(4), "epsilon": 2, "sensitive": [0, 1]},
    "trajectory": {"domain": Trajectory(Rectangle(), 6), "epsilon": 18},
}
NAMES = ["bike", "bus", "car", "tram", "walk"]
SIZE = re.compile(r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)"')


def main() -> None:
    """One sheet per family."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
    families: dict[str, list[str]] = {}
    for name in deniable.names():
        families.setdefault(mechanism_class(name).family, []).append(name)
    for family, names in families.items():
        pictures = [vl_convert.vegalite_to_svg(mechanism_chart(shown(name)).to_dict()) for name in names]
        path = folder / f"mechanisms-{family}.png"
        path.write_bytes(vl_convert.svg_to_png(sheet(pictures, WIDE_COLUMNS if family == "records" else COLUMNS), scale=1.2))
        print(path, len(names), "mechanisms")


def shown(name: str) -> Mechanism:
    """A mechanism at epsilon 2 on its usual domain, or its last example where it has none."""
    kind: Any = mechanism_class(name)
    try:
        if name in CLEARER:
            mechanism: Mechanism = kind(**CLEARER[name])
        else:
            mechanism = kind(domain=Categories(NAMES), epsilon=2) if kind.family == "categorical" else kind(epsilon=2)
    except (DeniableError, TypeError):
        mechanism = list(kind.examples())[-1]
    return mechanism


def sheet(pictures: list[str], columns: int) -> str:
    """Pictures side by side, each scaled to one width; a row is as high as its highest picture."""
    across = WIDTH * COLUMNS // columns
    tiles, top = [], 0
    for start in range(0, len(pictures), columns):
        row = pictures[start : start + columns]
        heights = [(across - GAP) * high / wide for wide, high in map(size, row)]
        for i, (picture, height) in enumerate(zip(row, heights, strict=True)):
            own = re.sub(r'(id="|url\(#)', rf"\g<1>tile{start + i}-", picture)  # clip paths of different pictures must differ
            place = f'x="{i * across + GAP // 2}" y="{top + GAP // 2}" width="{across - GAP}" height="{height:.0f}"'
            tiles.append(SIZE.sub(rf"\1 {place}", own, count=1))
        top += round(max(heights)) + GAP
    whole = f'width="{across * min(columns, len(pictures))}" height="{top}"'
    back = '<rect width="100%" height="100%" fill="white"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {whole}>{back}{"".join(tiles)}</svg>'
    )


def size(picture: str) -> tuple[float, float]:
    """The width and height that a picture states."""
    match = SIZE.search(picture)
    assert match is not None
    return float(match[2]), float(match[3])


if __name__ == "__main__":
    main()
