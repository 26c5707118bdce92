"""`deniable mechanisms`: what there is."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

import click

from deniable.cli.terminal import console, print_json, table
from deniable.core import Mechanism, all_mechanisms, built_in_names, mechanism_class
from deniable.errors import InvalidParameter


@click.command(short_help="List all mechanisms.")
@click.option(
    "--family", "-f", help="Show one family only: binary, categorical, numeric, circular, records, spatial, words, sets or vectors."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--markdown", is_flag=True, help="Print the page docs/mechanisms.md.")
def mechanisms(family: str | None, as_json: bool, markdown: bool) -> None:
    """List the mechanisms with their domain, their kind of privacy and where they come from."""
    if markdown:
        click.echo(mechanisms_page(), nl=False)
        return
    kinds = all_mechanisms()
    if family is not None:
        kinds = [kind for kind in kinds if kind.family == _checked(family, kinds)]
    rows = [describe(kind) for kind in kinds]
    if as_json:
        print_json(rows)
        return
    from rich.markup import escape

    shown = table("name", "domain", "privacy", "what it does")
    shown.columns[0].no_wrap = shown.columns[1].no_wrap = True
    for section in dict.fromkeys(row["family"] for row in rows):
        shown.add_section()
        for row in rows:
            if row["family"] == section:
                shown.add_row(row["name"], row["domain"], row["privacy"], escape(row["summary"]))
    console().print(shown)


def describe(kind: type[Mechanism]) -> dict[str, Any]:
    """One mechanism in a few words."""
    approximate = "delta" in {field.name for field in fields(kind)}
    return {
        "name": kind.name,
        "family": kind.family,
        "domain": " or ".join(domain.__name__ for domain in kind.domain_types),
        "privacy": "(ε, δ)" if approximate else "ε",
        "tasks": list(kind.tasks),
        "unbiased": kind.unbiased,
        "source": kind.source,
        "summary": summary(kind),
    }


def summary(kind: type[Mechanism]) -> str:
    """The first line of the docstring."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def mechanisms_page() -> str:
    """The mechanisms of this package as a page of its documentation, one table per family."""
    rows = [describe(mechanism_class(name)) for name in built_in_names()]
    lines = ["# Mechanisms", "", f"{len(rows)} mechanisms. Written by `make generated`; a test fails when it is out of date."]
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


def _checked(family: str, kinds: list[type[Mechanism]]) -> str:
    known = list(dict.fromkeys(kind.family for kind in kinds))
    if family not in known:
        near = difflib.get_close_matches(family, known, n=1)
        raise InvalidParameter(
            f"no family is called {family[:60]!r}; {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(known)}"
        )
    return family
