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
from deniable.core import Categories, Mechanism, mechanism_class
from deniable.errors import DeniableError

TILE = (430, 300)
COLUMNS = 4
NAMES = ["bike", "bus", "car", "tram", "walk"]


def main() -> None:
    """One sheet per family."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images")
    families: dict[str, list[str]] = {}
    for name in deniable.names():
        families.setdefault(mechanism_class(name).family, []).append(name)
    for family, names in families.items():
        pictures = [vl_convert.vegalite_to_svg(mechanism_chart(shown(name)).to_dict()) for name in names]
        path = folder / f"mechanisms-{family}.png"
        path.write_bytes(vl_convert.svg_to_png(sheet(pictures), scale=1.0))
        print(path, len(names), "mechanisms")


def shown(name: str) -> Mechanism:
    """A mechanism at epsilon 2 on its usual domain, or its last example where it has none."""
    kind: Any = mechanism_class(name)
    try:
        made: Mechanism = kind(domain=Categories(NAMES), epsilon=2) if kind.family == "categorical" else kind(epsilon=2)
    except (DeniableError, TypeError):
        made = list(kind.examples())[-1]
    return made


def sheet(pictures: list[str]) -> str:
    """Pictures side by side, each scaled into its tile."""
    width, height = TILE
    tiles = []
    for i, picture in enumerate(pictures):
        own = re.sub(r'(id="|url\(#)', rf"\g<1>tile{i}-", picture)  # clip paths of different pictures must differ
        place = f'x="{i % COLUMNS * width + 8}" y="{i // COLUMNS * height + 8}"'
        size = f'width="{width - 16}" height="{height - 16}" preserveAspectRatio="xMinYMin meet"'
        tiles.append(re.sub(r'(<svg[^>]*?) width="[\d.]+" height="[\d.]+"', rf"\1 {place} {size}", own, count=1))
    rows = -(-len(pictures) // COLUMNS)
    whole = f'width="{width * min(COLUMNS, len(pictures))}" height="{height * rows}"'
    back = '<rect width="100%" height="100%" fill="white"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {whole}>{back}{"".join(tiles)}</svg>'
    )


if __name__ == "__main__":
    main()
