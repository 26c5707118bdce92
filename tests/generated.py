"""Everything in the repository that is written by a program: `make generated` writes it, tests/test_generated.py compares it.

spec/vectors/         what other implementations must reproduce, one file for each mechanism, and one of streams
docs/mechanisms.md    the list of mechanisms
docs/references.bib   the works they come from
proofs/               the pages of mechanisms whose law is known already
README.md             how many mechanisms there are
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.stream_vectors import stream_texts
from tests.vectors import all_texts

from deniable.cli.mechanisms import mechanisms_page
from deniable.cli.references import bibliography
from deniable.core import built_in_names, mechanism_class
from deniable.privacy import proof_page

ROOT = Path(__file__).parents[1]
VECTORS, PROOFS = ROOT / "spec" / "vectors", ROOT / "proofs"
WRITTEN = "Written by `make generated`"
COUNT = re.compile(r"\d+(?= mechanisms: \[docs/mechanisms\.md\])")
REMEDY = "run: make generated"


def pages() -> Iterator[tuple[Path, str]]:
    """Every generated file but the vectors, with the text it should have."""
    yield ROOT / "docs" / "mechanisms.md", mechanisms_page()
    yield ROOT / "docs" / "references.bib", bibliography()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert COUNT.search(readme), "README.md says how many mechanisms there are: `62 mechanisms: [docs/mechanisms.md]`"
    yield ROOT / "README.md", COUNT.sub(str(len(built_in_names())), readme)
    for name in built_in_names():
        page = PROOFS / f"{name}.md"
        if not page.exists() or WRITTEN in page.read_text(encoding="utf-8"):
            yield page, proof_page(mechanism_class(name))


def main() -> None:
    """Write all of it, and remove the vectors of mechanisms that are no more."""
    texts = {**dict(all_texts()), **dict(stream_texts())}
    for path in VECTORS.glob("*.json"):
        if path.name not in texts:
            path.unlink()
    for path, text in [*((VECTORS / name, text) for name, text in texts.items()), *pages()]:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
