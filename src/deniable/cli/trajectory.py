"""`deniable trajectory`: perturb paths, compare mechanisms on them, and draw them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import console, print_json, table
from deniable.cli.trajectory_data import PathData, load, work_progress
from deniable.errors import InvalidParameter
from deniable.exact import Epsilon

if TYPE_CHECKING:
    from deniable.mechanisms import Mechanism
    from deniable.trajectories.compare import Comparison

MECHANISMS = ("auto", "disc", "tracs-c", "tracs-d")
OUTSIDE = ("refuse", "clip", "drop")
REGION = "The public region: west,south,east,north in degrees (left,bottom,right,top for plane coordinates)."


@click.group(short_help="Paths: perturb them, compare mechanisms, draw maps.")
def trajectory() -> None:
    """Private movement data in continuous space."""


@trajectory.command(short_help="Perturb paths and write them to a file.")
@click.argument("source", metavar="IN")
@click.option("--region", required=True, help=REGION)
@click.option("--epsilon", "-e", required=True, help="Privacy level: a number or a ratio such as 1/3.")
@click.option("--mechanism", "-m", type=click.Choice(MECHANISMS), default="auto", show_default=True, help="auto is disc.")
@click.option(
    "--epsilon-per",
    type=click.Choice(["location", "trajectory"]),
    default="location",
    show_default=True,
    help="What epsilon is for: one location, or a whole path (each location of a path of n then gets epsilon/n).",
)
@click.option("--outside", type=click.Choice(OUTSIDE), default="refuse", show_default=True, help="Locations outside the region.")
@click.option("--cells", type=int, help="Cells on the region's longer side (disc: 256, others: 8192).")
@click.option("--out", "-o", required=True, type=click.Path(dir_okay=False), help="A .csv, .gpx or .geojson file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def perturb(
    source: str,
    region: str,
    epsilon: str,
    mechanism: str,
    epsilon_per: str,
    outside: str,
    cells: int | None,
    out: str,
    as_json: bool,
) -> None:
    """Perturb the paths of IN (CSV, GPX or GeoJSON) on this machine and write them to a file.

    Users are not written: paths are numbered.
    """
    from deniable.trajectories.perturb import perturb as perturbed
    from deniable.trajectories.writers import write_paths

    level = Epsilon(epsilon)
    data = load(source, region, outside)
    made = chosen(mechanism, data, level, cells)
    done = perturbed(data.paths, made, epsilon_per=epsilon_per)
    write_paths(data.restored(done), out, unit=data.unit)
    per_location = epsilon_per == "location"
    certificate = made.certificate()
    holds = certificate.holds if per_location else _every_length_holds(made, data)
    longest = int(data.paths.lengths.max(initial=0))
    document = {
        "mechanism": made.name,
        "epsilon": float(level),
        "epsilon_per": epsilon_per,
        "epsilon_of_the_longest_path": float(level) * longest if per_location else float(level),
        "paths": len(data.paths),
        "locations": len(data.paths.places),
        "clipped": data.clipped,
        "dropped": data.dropped,
        "holds": holds,
        "recipe": made.recipe() if per_location else None,
        "out": out,
    }
    if as_json:
        print_json(document)
        return
    word = "location" if per_location else "trajectory"
    click.echo(f"{document['locations']} locations of {document['paths']} paths by {made.name}, epsilon {level} per {word}")
    if per_location:
        click.echo(f"certificate {'holds' if holds else 'DOES NOT HOLD'}: {certificate.inequality}")
        click.echo(f"a whole path of n locations is protected with n times epsilon: {float(level) * longest:g} for the longest")
    else:
        click.echo(f"certificates of epsilon/n for every length n {'hold' if holds else 'DO NOT HOLD'}")
    if data.clipped or data.dropped:
        click.echo(f"outside the region: {data.clipped} locations clipped, {data.dropped} dropped")
    click.echo(f"paths: {out}")


def _every_length_holds(made: Mechanism, data: PathData) -> bool:
    """Does the promise hold with an n-th of epsilon, for the length n of every path?"""
    lengths = sorted({int(length) for length in data.paths.lengths if length})
    parts = (replace(made, epsilon=made.privacy.times(Fraction(1, length))) for length in lengths)
    return all(part.certificate().holds for part in parts)


def chosen(name: str, data: PathData, level: Epsilon, cells: int | None) -> Mechanism:
    """The mechanism a user asked for, on the data's region."""
    from deniable.mechanisms import make_mechanism
    from deniable.trajectories.baselines.contestants import DISC, FINE, regridded

    registered = "nearest-cells" if name in ("auto", "disc") else name
    grid = regridded(data.region, cells if cells is not None else DISC if registered == "nearest-cells" else FINE)
    made: Mechanism = make_mechanism(registered, domain=grid, epsilon=level)
    return made


@trajectory.command(short_help="All mechanisms side by side, on your data or random paths.")
@click.argument("data")
@click.option("--epsilons", default="2,4,6,8,10", show_default=True, help="Privacy levels per location, separated by commas.")
@click.option("--mechanisms", help="Names separated by commas; left out: all of them.")
@click.option("--region", help=f"{REGION} Left out: a box around the data.")
@click.option("--outside", type=click.Choice(OUTSIDE), default="refuse", show_default=True, help="Locations outside the region.")
@click.option("--paths", "most", type=int, default=100, show_default=True, help="Only so many first paths; 0 is all.")
@click.option("--place-cells", type=int, default=32, show_default=True, help="For random data: places are a grid of N by N.")
@click.option("--chart", type=click.Path(dir_okay=False), help="Draw the errors to a .png, .svg, .html or .json file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def compare(
    data: str,
    epsilons: str,
    mechanisms: str | None,
    region: str | None,
    outside: str,
    most: int,
    place_cells: int,
    chart: str | None,
    as_json: bool,
) -> None:
    """Compare all mechanisms on DATA: a file of paths, or random:100x100 for 100 random paths of 100 points.

    The list of places is that of the whole file, and counts as public.
    """
    from deniable.trajectories.baselines.contestants import applicable
    from deniable.trajectories.compare import compare as compared

    if chart is not None:
        from deniable.charts.files import check_ending

        check_ending(chart)
    if most < 0:
        raise InvalidParameter("--paths must not be negative")
    levels = [Epsilon(part) for part in epsilons.split(",") if part.strip()]
    loaded = load(data, region, outside, place_cells=place_cells).first(most)
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
        f"{first.locations} locations of {first.paths} paths, {first.places} places; "
        f"epsilon per location, errors in {loaded.plane_unit}",
        soft_wrap=True,
    )
    columns = ("mechanism", "error", "±", "at places", "in range", "lost", "turn", "DTW", "Fréchet", "µs each", "holds")
    numbers = [name for name in columns if name not in ("mechanism", "holds")]
    for epsilon in dict.fromkeys(row.epsilon for row in rows):
        made = table(*columns, title=f"epsilon {epsilon:g}", numbers=numbers)
        some = [row for row in rows if row.epsilon == epsilon]
        for i, row in enumerate(some):
            # A line between those that answer with any point of the region and those that answer with a place.
            if i and row.space != some[i - 1].space:
                made.add_section()
            made.add_row(
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
        out.print(made)


def _short(number: float, digits: int = 4) -> str:
    """A few digits, and no exponent for what is long."""
    return f"{number:.0f}" if abs(number) >= 10**digits else f"{number:.{digits}g}"


def _draw_errors(rows: list[Comparison], loaded: PathData, path: str) -> None:
    from deniable.charts.files import save
    from deniable.charts.trajectories import trajectory_error_chart

    first = rows[0]
    size, unit = (1.0, loaded.plane_unit) if loaded.city is None else (1000.0, "km")
    keys = ("average_error", "average_error_standard_error")
    chart = trajectory_error_chart(
        [{**row.to_dict(), **{key: getattr(row, key) / size for key in keys}} for row in rows],
        quantity=f"average error, {unit}",
        title="Average error per location",
        subtitle=f"{first.locations:,} locations of {first.paths} paths, {first.places:,} places; bars: two standard errors",
    )
    save(chart, path)


@trajectory.command("map", short_help="Draw paths or a density map.")
@click.argument("data")
@click.option("--region", help=f"{REGION} Left out: a box around the data.")
@click.option("--epsilon", "-e", required=True, help="Privacy level per location.")
@click.option("--mechanism", "-m", type=click.Choice(MECHANISMS), default="auto", show_default=True, help="auto is disc.")
@click.option("--outside", type=click.Choice(OUTSIDE), default="refuse", show_default=True, help="Locations outside the region.")
@click.option(
    "--show",
    type=click.Choice(["paths", "density", "true-density"]),
    default="paths",
    show_default=True,
    help="True and perturbed paths, where people are as estimated from the reports, or where they truly are.",
)
@click.option("--paths", "most", type=int, default=3, show_default=True, help="Draw so many paths, those that move first.")
@click.option("--cells", type=int, default=20, show_default=True, help="Cells of a density map along its longer side.")
@click.option("--out", "-o", required=True, type=click.Path(dir_okay=False), help="A .png, .svg, .html or .json file.")
def draw_map(
    data: str, region: str | None, epsilon: str, mechanism: str, outside: str, show: str, most: int, cells: int, out: str
) -> None:
    """Draw paths and their perturbed ones, or a density map. True locations are private: keep such pictures."""
    from deniable.charts.files import check_ending, save
    from deniable.cli.trajectory_map import density_picture, path_picture

    check_ending(out)
    if most < 1:
        raise InvalidParameter("--paths must be at least 1")
    level = Epsilon(epsilon)
    loaded = load(data, region, outside)
    made = chosen(mechanism, loaded, level, None)
    picture = path_picture(loaded, made, most) if show == "paths" else density_picture(loaded, made, cells, true=show != "density")
    save(picture, out)
    click.echo(f"map: {out}")
