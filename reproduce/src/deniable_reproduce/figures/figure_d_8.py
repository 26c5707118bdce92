"""Figure D.8: the places of both cities in their rectangles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from deniable.charts import COLOURS, INK, inline, themed
from deniable.studies import Places
from deniable_reproduce.artifact import Artifact, Claim, Published, Result, Run, named, readings
from deniable_reproduce.walks import CHICAGO_AREA, TOKYO_AREA, check_ins

CITIES = {"TKY": ("tokyo", TOKYO_AREA), "CHI": ("chicago", CHICAGO_AREA)}
TEXT = "Section 6.3.2"
SHOWN = 2500


def compute(run: Run) -> Result:
    """All different places, and how many of a fine grid's cells hold one."""
    result: Result = {"numbers": {}, "variants": {}, "places": {}, "filled": {}}
    for name, (city, ends) in CITIES.items():
        places = Places.of(check_ins(run, city, most=100_000)).coordinates
        left, bottom, right, top = (float(end) for end in ends)
        result["numbers"][f"places, {name}"] = len(places)
        inside = places[(places[:, 0] >= left) & (places[:, 0] < right) & (places[:, 1] >= bottom) & (places[:, 1] < top)]
        result["numbers"][f"places in the printed area, {name}"] = len(inside)
        result["numbers"][f"places outside it, {name}"] = len(places) - len(inside)
        for axis, label in enumerate(("longitude", "latitude")):
            result["numbers"][f"least {label}, {name}"] = float(places[:, axis].min())
            result["numbers"][f"largest {label}, {name}"] = float(places[:, axis].max())
        result["variants"][name] = {
            f"the printed area and {margin} degrees more on every side": int(
                np.all((places >= [left - margin, bottom - margin]) & (places < [right + margin, top + margin]), axis=1).sum()
            )
            for margin in (0.01, 0.05, 0.1, 0.12)
        }
        cells = np.unique(np.floor((inside - [left, bottom]) / [(right - left) / 20, (top - bottom) / 20]).astype(int), axis=0)
        result["filled"][name] = len(cells) / 400
        step = max(1, len(places) // SHOWN)
        result["places"][name] = np.round(places[::step], 4).tolist()
    return result


def draw(result: Result) -> Mapping[str, Any]:
    """A map per city: places as dots, the printed area as a frame."""
    panels = []
    for name, (city, ends) in CITIES.items():
        left, bottom, right, top = (float(end) for end in ends)
        rows = [{"x": x, "y": y} for x, y in result["places"][name]]
        xs, ys = [row["x"] for row in rows], [row["y"] for row in rows]
        x_scale = alt.Scale(domain=[min(left, *xs) - 0.01, max(right, *xs) + 0.01], nice=False)
        y_scale = alt.Scale(domain=[min(bottom, *ys) - 0.01, max(top, *ys) + 0.01], nice=False)
        axes = {
            "x": alt.X("x:Q", title="longitude (degrees)", scale=x_scale, axis=alt.Axis(tickCount=5, format=".1f", grid=False)),
            "y": alt.Y("y:Q", title="latitude (degrees)", scale=y_scale, axis=alt.Axis(tickCount=5, format=".1f", grid=False)),
        }
        dots = alt.Chart(inline(rows)).mark_circle(size=9, color=COLOURS[0], opacity=0.6).encode(**axes)
        frame = [{"x": left, "x2": right, "y": bottom, "y2": top}]
        box = alt.Chart(inline(frame)).mark_rect(filled=False, stroke=INK, strokeWidth=1.5).encode(x2="x2:Q", y2="y2:Q", **axes)
        heading = alt.TitleParams(
            f"{city.capitalize()}: {result['numbers'][f'places, {name}']:,} places",
            fontSize=14,
            fontWeight="normal",
            anchor="middle",
        )
        panels.append(alt.layer(dots, box).properties(width=330, height=330, title=heading))
    whole = alt.hconcat(*panels, spacing=40)
    return {"maps": themed(whole, title="Places of both cities", subtitle="the frame is the area as printed")}


ARTIFACT = Artifact(
    name="figure-d.8",
    title="Location spaces of TKY and CHI",
    source="Dissertation, Figure D.8",
    compute=compute,
    draw=draw,
    published=(
        Published("places, TKY", 7798, 0, TEXT),
        Published("places, CHI", 1000, 0, TEXT),
        Published(
            "places in the printed area, CHI",
            1000,
            0,
            "Section 6.3.1",
            "The file's longitudes begin at −88.0, the printed area at −87.9.",
            variants=readings("CHI"),
            evidence=named("places outside it, CHI", "least longitude, CHI", "largest longitude, CHI"),
            given=(-87.9,),
        ),
        Published(
            "places in the printed area, TKY",
            7798,
            0,
            "Section 6.3.1",
            "The printed ends are rounded: twenty places lie just beyond them.",
            variants=readings("TKY"),
            evidence=named(
                "places outside it, TKY",
                "least longitude, TKY",
                "largest longitude, TKY",
                "least latitude, TKY",
                "largest latitude, TKY",
            ),
        ),
    ),
    claims=(
        Claim(
            "the places of TKY are denser and more evenly distributed over their area than those of CHI",
            "Appendix D.2.10",
            lambda r: r["filled"]["TKY"] > r["filled"]["CHI"],
        ),
    ),
    data=("tokyo_checkins.csv", "chicago_checkins.csv"),
    note=f"The picture shows about {SHOWN} places of a city at most.",
)
