"""What programs write is what stands in the repository; the vectors are compared in tests/sdk/test_vectors.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import generated

from deniable.core import mechanism_class
from deniable.errors import NotSupported
from deniable.privacy import proof_page


def test_pages_and_counts_are_up_to_date() -> None:
    stale = [path.name for path, text in generated.pages() if not path.exists() or path.read_text(encoding="utf-8") != text]
    assert stale == [], generated.REMEDY


def test_a_mechanism_without_a_page_gets_one_if_its_law_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(generated, "PROOFS", tmp_path)
    monkeypatch.setattr(generated, "built_in_names", lambda: ["k-rr", "oue"])
    written = {path.name: text for path, text in generated.pages()}
    assert written["k-rr.md"].startswith("# k-rr\n")
    assert written["README.md"].count("2 mechanisms: [docs/mechanisms.md]") == 1
    (tmp_path / "k-rr.md").write_text("# k-rr\n\nA page of its own.\n", encoding="utf-8")
    assert {path.name for path, _ in generated.pages()} >= {"oue.md"}
    assert "k-rr.md" not in {path.name for path, _ in generated.pages()}


@pytest.mark.parametrize("name", ["gaussian", "trajectory", "pm"])
def test_a_new_law_needs_a_page_of_its_own(name: str) -> None:
    with pytest.raises(NotSupported, match=f"write proofs/{name}.md by hand"):
        proof_page(mechanism_class(name))
