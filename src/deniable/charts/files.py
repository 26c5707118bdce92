"""Charts as files. Everything is rendered here; nothing is fetched, now or when the file is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import vl_convert

from deniable.errors import InvalidParameter

FORMATS = (".png", ".svg", ".html", ".json")
RESOLUTION = 2.0


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart as PNG, SVG, HTML (with its scripts inside) or as its JSON specification, by the file's ending."""
    target = Path(path)
    check_ending(target)
    specification = chart.to_dict()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".png":
        target.write_bytes(vl_convert.vegalite_to_png(specification, scale=RESOLUTION))
    elif target.suffix == ".svg":
        target.write_text(vl_convert.vegalite_to_svg(specification), encoding="utf-8")
    elif target.suffix == ".html":
        target.write_text(vl_convert.vegalite_to_html(specification, bundle=True), encoding="utf-8")
    else:
        target.write_text(json.dumps(specification, indent=1, sort_keys=True), encoding="utf-8")
    return target


def check_ending(path: str | Path) -> None:
    """Refuse files of another kind before any work is done."""
    if Path(path).suffix not in FORMATS:
        raise InvalidParameter(f"a chart file must end in {', '.join(FORMATS)}, got {str(path)[-40:]!r}")
