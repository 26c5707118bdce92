"""The site's reference has every public name, also those whose extra is not installed here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import deniable.studies

SITE = Path(__file__).parents[1] / "docs" / "site.py"


@pytest.mark.slow
def test_a_name_that_cannot_be_loaded_is_described_from_its_source() -> None:
    spec = importlib.util.spec_from_file_location("docs_site", SITE)
    assert spec is not None
    assert spec.loader is not None
    site = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    said = site.unloaded(deniable.studies, "LocalPrivacy", "this needs flwr, which is not installed")
    assert said.startswith("## LocalPrivacy\n")
    assert "one private report, and nothing else leaves" in said
    assert said.endswith("This needs flwr, which is not installed.\n")
    assert "## LocalPrivacy" in site.package_page(deniable.studies)
