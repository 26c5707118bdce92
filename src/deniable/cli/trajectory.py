"""`deniable trajectory`: perturb paths, compare mechanisms on them, and draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deniable.cli.effect import refuse_unused
from deniable.cli.terminal import console, counted, print_json, table
from deniable.cli.trajectory_data import BAD, OUTSIDE, PathData, load, work_progress
from deniable.cli.trajectory_perturb import MECHANISMS, REGION, chosen, perturb
from deniable.core import Epsilon
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from deniable.studies import Comparison


@click.group(short_help="Perturb paths, compare mechanisms on them, draw maps.")
def trajectory() -> None:
    """Perturb movement data in continuous space, compare mechanisms on it, and draw it."""


trajectory.add_command(perturb)


@trajectory.command(short_help="Compare all mechanisms on your data or on random paths.")
@click.argument("data")
@click.option(
    "--epsilon",
    "--epsilons",
    "-e",
    "epsilons",
    default="2,4,6,8,10",
    show_default=True,
    help="Privacy levels per location, separated by commas.",
)
@click.option("--mechanisms", help="Names separated by commas; by default all of them.")
@click.option("--region", help=f"{REGION} By default a box around the data.")
@OUTSIDE
@BAD
@click.option(
    "--paths", "most", type=int, default=100, show_default=True, help="Use only this many paths from the start; 0 means all."
)
@click.option("--place-cells", type=int, default=32, show_default=True, help="For random data: places are a grid of N by N.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the errors to a .png, .svg, .html or .json file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    data: str,
    epsilons: str,
    mechanisms: str | None,
    region: str | None,
    outside: str,
    bad: str,
    most: int,
    place_cells: int,
    chart: str | None,
    as_json: bool,
) -> None:
    """Compare all mechanisms on DATA: a file of paths, or random:100x100 for 100 random paths of 100 points.

    The list of places is that of the whole file, and counts as public.
    """
    from deniable.studies import applicable
    from deniable.studies import compare as compared

    if chart is not None:
        from deniable.charts import check_ending

        check_ending(chart)
    if most < 0:
        raise InvalidParameter("--paths must not be negative")
    if not data.startswith("random:"):
        refuse_unused("on a file", "it is for random data", "place_cells")
    levels = [Epsilon(part) for part in epsilons.split(",") if part.strip()]
    loaded = load(data, region, outside, bad, place_cells=place_cells).first(most)
    asked = None if mechanisms is None else [part.strip() for part in mechanisms.split(",") if part.strip()]
    names = applicable(loaded.places) if asked is None else asked
    with work_progress("comparing", len(levels) * len(names) * len(loaded.paths.places), hidden=as_json) as advance:
        rows = compared(
            loaded.paths, loaded.region, levels, mechanisms=names, places=loaded.places, progress=lambda _, done: advance(done)
        )
    if chart is not None:
        _draw_errors(rows, loaded, chart)
    if as_json:
        facts = {"data": data, "unit": loaded.plane_unit, "clipped": loaded.clipped, "dropped": loaded.dropped, "chart": chart}
        print_json({**facts, "rows": [row.to_dict() for row in rows]})
        return
    _print(rows, loaded)
    if chart is not None:
        click.echo(f"chart: {chart}")


def _print(rows: list[Comparison], loaded: PathData) -> None:
    out = console()
    first = rows[0]
    out.print(
        f"{_size(first)}; epsilon per location, errors in {loaded.plane_unit}",
        soft_wrap=True,
    )
    columns = ("mechanism", "error", "±", "at places", "in range", "lost", "turn", "DTW", "Fréchet", "µs each", "holds")
    numbers = [name for name in columns if name not in ("mechanism", "holds")]
    for epsilon in dict.fromkeys(row.epsilon for row in rows):
        shown = table(*columns, title=f"epsilon {epsilon:g}", numbers=numbers)
        some = [row for row in rows if row.epsilon == epsilon]
        for i, row in enumerate(some):
            # A line between those that answer with any point of the region and those that answer with a place.
            if i and row.space != some[i - 1].space:
                shown.add_section()
            shown.add_row(
                row.mechanism,
                _short(row.average_error),
                _short(row.average_error_standard_error, 2),
                _short(row.average_error_at_places),
                f"{row.range_query:.1f} %",
                f"{row.hotspot:.2f}",
                f"{row.direction_error:.3f}",
                _short(row.dtw),
                _short(row.frechet),
                _short(row.microseconds_per_location, 3),
                "yes" if row.holds else "NO",
            )
        out.print(shown)


def _short(number: float, digits: int = 4) -> str:
    """A few digits, and no exponent for what is long; a dash for what one path cannot tell."""
    if number != number:
        return "–"
    return f"{number:.0f}" if abs(number) >= 10**digits else f"{number:.{digits}g}"


def _size(row: Comparison) -> str:
    return f"{counted(row.locations, 'location')} of {counted(row.paths, 'path')}, {counted(row.places, 'place')}"


def _draw_errors(rows: list[Comparison], loaded: PathData, path: str) -> None:
    from deniable.charts import save, trajectory_error_chart

    first = rows[0]
    size, unit = (1.0, loaded.plane_unit) if loaded.city is None else (1000.0, "km")
    keys = ("average_error", "average_error_standard_error")
    chart = trajectory_error_chart(
        [{**row.to_dict(), **{key: getattr(row, key) / size for key in keys}} for row in rows],
        quantity=f"average error, {unit}",
        title="Average error per location",
        subtitle=f"{_size(first)}; bars: two standard errors",
    )
    save(chart, path)


@trajectory.command("map", short_help="Draw paths or a density map.")
@click.argument("data")
@click.option("--region", help=f"{REGION} By default a box around the data.")
@click.option("--epsilon", "-e", required=True, help="Privacy level per location.")
@click.option("--mechanism", "-m", type=click.Choice(MECHANISMS), default="auto", show_default=True, help="auto is nearest-cells.")
@OUTSIDE
@BAD
@click.option(
    "--show",
    type=click.Choice(["paths", "density", "true-density"]),
    default="paths",
    show_default=True,
    help="True and perturbed paths, where people are as estimated from the reports, or where they truly are.",
)
@click.option(
    "--paths", "most", type=int, default=3, show_default=True, help="Draw this many paths, starting with those that move."
)
@click.option(
    "--locations",
    type=int,
    default=12,
    show_default=True,
    help="Draw only this many locations from the start of a path; 0 means all.",
)
@click.option("--cells", type=int, default=20, show_default=True, help="Cells of a density map along its longer side.")
@click.option("--perturbed", is_flag=True, help="DATA is perturbed already, by this mechanism and epsilon: draw its density.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="A .png, .svg, .html or .json file.")
@click.option("--json", "as_json", is_flag=True, help="Say what was drawn as JSON.")
def draw_map(
    data: str,
    region: str | None,
    epsilon: str,
    mechanism: str,
    outside: str,
    bad: str,
    show: str,
    most: int,
    locations: int,
    cells: int,
    perturbed: bool,
    output: str,
    as_json: bool,
) -> None:
    """Draw paths beside their perturbed versions, or a density map.

    A picture of true locations shows private data: do not share it.
    """
    from deniable.charts import check_ending, save
    from deniable.cli.trajectory_map import density_picture, path_picture

    check_ending(output)
    if show == "paths":
        refuse_unused("on --show paths", "use it with --show density or true-density", "cells")
    else:
        refuse_unused("on a density map", "use it with --show paths", "most", "locations")
    if most < 1 or locations < 0:
        raise InvalidParameter("--paths must be at least 1, --locations not negative")
    level = Epsilon(epsilon)
    if perturbed and (region is None or show != "density"):
        raise InvalidParameter("--perturbed needs --show density and the --region the file was perturbed with")
    # Reports may lie a little outside the box in degrees: its plane is a rectangle.
    loaded = load(data, region, outside, bad, perturbed=perturbed)
    randomizer = chosen(mechanism, loaded.region, level, None)
    if show == "paths":
        picture = path_picture(loaded, randomizer, most, locations)
    else:
        picture = density_picture(loaded, randomizer, cells, true=show != "density", perturbed=perturbed)
    save(picture, output)
    if as_json:
        drawn = {"chart": output, "show": show, "mechanism": randomizer.name, "epsilon": float(level)}
        print_json({**drawn, "paths": len(loaded.paths.lengths), "locations": len(loaded.paths.places)})
    else:
        click.echo(f"map: {output}")
