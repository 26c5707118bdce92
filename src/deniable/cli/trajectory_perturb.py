"""`deniable trajectory perturb`: private paths from file to file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import counted, print_json
from deniable.cli.trajectory_data import BAD, OUTSIDE, work_progress
from deniable.core import Epsilon

if TYPE_CHECKING:
    from deniable.core import Mechanism, Rectangle
    from deniable.studies import PathFile

MECHANISMS = ("auto", "nearest-cells", "tracs-c", "tracs-d")
REGION = "The public region: west,south,east,north in degrees (left,bottom,right,top for plane coordinates)."


@click.command(short_help="Perturb paths and write them to a file.")
@click.argument("source", metavar="IN")
@click.option("--region", required=True, help=REGION)
@click.option("--epsilon", "-e", required=True, help="Privacy level: a number or a ratio such as 1/3.")
@click.option("--mechanism", "-m", type=click.Choice(MECHANISMS), default="auto", show_default=True, help="auto is nearest-cells.")
@click.option(
    "--epsilon-per",
    type=click.Choice(["location", "trajectory"]),
    default="location",
    show_default=True,
    help="What epsilon is for: one location, or a whole path (each location of a path of n then gets epsilon/n).",
)
@OUTSIDE
@BAD
@click.option("--cells", type=int, help="Cells on the region's longer side (nearest-cells: 256, others: 8192).")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="A .csv, .gpx or .geojson file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def perturb(
    source: str,
    region: str,
    epsilon: str,
    mechanism: str,
    epsilon_per: str,
    outside: str,
    bad: Any,
    cells: int | None,
    output: str,
    as_json: bool,
) -> None:
    """Perturb the paths of IN (CSV, GPX or GeoJSON) on this machine and write them to a file.

    Users are not written: paths are numbered. The file is read twice and never held in memory, so tracks may be long;
    only check-ins that are not in order by user and time are read as a whole, to sort them.
    """
    from deniable.studies import check_target, perturb_file, survey_file

    level = Epsilon(epsilon)
    with work_progress("counting", None, hidden=as_json) as advance:
        paths = survey_file(source, region, outside=outside, bad=bad, progress=advance)
    check_target(output, paths.ground.unit)
    randomizer = chosen(mechanism, paths.ground.rectangle, level, cells)
    per_location = epsilon_per == "location"
    certificate = randomizer.certificate()
    holds = certificate.holds if per_location else _every_length_holds(randomizer, paths)
    with work_progress("perturbing", paths.locations, hidden=as_json) as advance:
        perturb_file(paths, randomizer, output, epsilon_per=epsilon_per, progress=advance)
    spent = float(level) * paths.longest
    document = {
        "mechanism": randomizer.name,
        "epsilon": float(level),
        "epsilon_per": epsilon_per,
        "epsilon_of_the_longest_path": spent if per_location else float(level),
        "paths": len(paths.lengths),
        "locations": paths.locations,
        "clipped": paths.clipped,
        "dropped": paths.dropped,
        "unusable": paths.unusable,
        "holds": holds,
        "recipe": randomizer.recipe() if per_location else None,
        "output": output,
    }
    if as_json:
        print_json(document)
        return
    word = "location" if per_location else "trajectory"
    perturbed = f"{counted(paths.locations, 'location')} of {counted(len(paths.lengths), 'path')}"
    click.echo(f"{perturbed} by {randomizer.name}, epsilon {level} per {word}")
    if per_location:
        click.echo(f"certificate {'holds' if holds else 'DOES NOT HOLD'}: {certificate.inequality}")
        click.echo(f"a whole path of n locations is protected with n times epsilon: {spent:g} for the longest")
    else:
        click.echo(f"certificates of epsilon/n for every length n {'hold' if holds else 'DO NOT HOLD'}")
    if paths.clipped or paths.dropped:
        click.echo(f"outside the region: {counted(paths.clipped, 'location')} clipped, {paths.dropped} dropped")
    if paths.unusable:
        click.echo(f"not numbers, or not valid degrees: {counted(paths.unusable, 'location')} left out")
    click.echo(f"paths: {output}")


def _every_length_holds(mechanism: Mechanism, paths: PathFile) -> bool:
    """Does the promise hold with an n-th of epsilon, for the length n of every path?"""
    lengths = sorted({int(length) for length in paths.lengths if length})
    parts = (replace(mechanism, epsilon=mechanism.privacy.times(Fraction(1, length))) for length in lengths)
    return all(part.certificate().holds for part in parts)


def chosen(name: str, region: Rectangle, level: Epsilon, cells: int | None) -> Mechanism:
    """The mechanism a user asked for, on the given region."""
    from deniable.core import make_mechanism
    from deniable.studies import FINE, NEAREST, regridded

    registered = "nearest-cells" if name == "auto" else name
    grid = regridded(region, cells if cells is not None else NEAREST if registered == "nearest-cells" else FINE)
    chosen_one: Mechanism = make_mechanism(registered, domain=grid, epsilon=level)
    return chosen_one
