"""The works that a mechanism's `source` names, from references.bib: author, title, year and where to find them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^  (\w+) += \{(.*)\},$", re.MULTILINE)


@dataclass(frozen=True)
class Reference:
    """One entry of references.bib."""

    kind: str
    key: str
    fields: dict[str, str]

    def field(self, name: str) -> str:
        """A field without the braces that keep capitals, or nothing."""
        return self.fields.get(name, "").replace("{", "").replace("}", "").replace("--", "–")

    @property
    def authors(self) -> list[str]:
        """First names first."""
        names = self.field("author").split(" and ") if self.field("author") else []
        return [" ".join(reversed(name.split(", "))) for name in names]

    @property
    def link(self) -> str:
        """DOI, arXiv or another address, if one is known."""
        if self.field("doi"):
            return f"https://doi.org/{self.field('doi')}"
        return f"https://arxiv.org/abs/{self.field('eprint')}" if self.field("eprint") else self.field("url")

    def __str__(self) -> str:
        venue = self.field("journal") or self.field("booktitle") or self.field("school")
        kind = self.field("type")
        parts = (", ".join(self.authors), self.field("title"), kind, venue, self.field("year"), self.link)
        return ", ".join(part for part in parts if part)

    def as_json(self) -> dict[str, object]:
        """For a program: the key in references.bib, and what it says."""
        return {
            "key": self.key,
            "authors": self.authors,
            "title": self.field("title"),
            "year": self.field("year"),
            "link": self.link,
        }


def bibliography() -> str:
    """The text of references.bib."""
    return files("deniable.cli").joinpath("references.bib").read_text(encoding="utf-8")


@cache
def references() -> tuple[Reference, ...]:
    """Every entry of references.bib."""
    return tuple(Reference(kind, key, dict(FIELD.findall(body))) for kind, key, body in ENTRY.findall(bibliography()))


def cited(source: str) -> list[Reference]:
    """The works that a `source` names by their shorthand, in its order; none for a mechanism of somebody else's."""
    places = [(source.find(one.field("shorthand")), one) for one in references()]
    return [one for place, one in sorted(places, key=lambda pair: pair[0]) if place >= 0]
