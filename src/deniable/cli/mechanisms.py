"""`deniable mechanisms`: what there is."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

import click

from deniable.cli.terminal import console, print_json, table
from deniable.core import REGISTRY, Mechanism, mechanism_class, names
from deniable.errors import InvalidParameter


@click.command(short_help="List all mechanisms.")
@click.option("--family", "-f", help="Only this family: binary, categorical, numeric, circular, records, spatial or words.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print the page docs/mechanisms.md.")
def mechanisms(family: str | None, as_json: bool, markdown: bool) -> None:
    """List the mechanisms with their domain, their kind of privacy and where they come from."""
    rows = [describe(mechanism_class(name)) for name in names() if family is None or _family_of(name) == _checked(family)]
    if as_json:
        print_json(rows)
        return
    if markdown:
        click.echo(_page(rows), nl=False)
        return
    from rich.markup import escape

    shown = table("name", "domain", "privacy", "what it does")
    shown.columns[0].no_wrap = shown.columns[1].no_wrap = True
    for kind in dict.fromkeys(row["family"] for row in rows):
        shown.add_section()
        for row in rows:
            if row["family"] == kind:
                shown.add_row(row["name"], row["domain"], row["privacy"], escape(row["summary"]))
    console().print(shown)


def describe(mechanism: type[Mechanism]) -> dict[str, Any]:
    """One mechanism in a few words."""
    approximate = "delta" in {field.name for field in fields(mechanism)}
    return {
        "name": mechanism.name,
        "family": mechanism.family,
        "domain": " or ".join(kind.__name__ for kind in mechanism.domain_types),
        "privacy": "(ε, δ)" if approximate else "ε",
        "source": mechanism.source,
        "summary": summary(mechanism),
    }


def summary(mechanism: type[Mechanism]) -> str:
    """The first line of the docstring."""
    return (mechanism.__doc__ or "").strip().partition("\n")[0]


def _page(rows: list[dict[str, Any]]) -> str:
    """The mechanisms as a page of the documentation, one table per family."""
    lines = ["# Mechanisms", "", "Written by `deniable mechanisms --markdown`; a test fails when it is out of date."]
    for family in dict.fromkeys(row["family"] for row in rows):
        lines += [
            "",
            f"## {family.capitalize()}",
            "",
            "| name | domain | privacy | what it does | source |",
            "|---|---|---|---|---|",
        ]
        for row in rows:
            if row["family"] == family:
                cells = [f"`{row['name']}`", row["domain"], row["privacy"], row["summary"], row["source"]]
                lines.append(f"| {' | '.join(_escaped(cell) for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _escaped(cell: str) -> str:
    return cell.replace("*", "\\*").replace("|", "\\|")


def _family_of(name: str) -> str:
    return REGISTRY[name].partition(".")[0]


def _checked(family: str) -> str:
    known = list(dict.fromkeys(_family_of(name) for name in names()))
    if family not in known:
        near = difflib.get_close_matches(family, known, n=1)
        raise InvalidParameter(
            f"no family is called {family[:60]!r}; {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(known)}"
        )
    return family
