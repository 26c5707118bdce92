"""Every table, figure and example that is promised exists, under the name people would guess."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from reproduce.tests.promised import REQUIRED

from deniable_reproduce.artifact import Artifact, Claim, Published, named, readings
from deniable_reproduce.catalogue import UnknownArtifact, artifact_name, find, names


@pytest.mark.parametrize("name", REQUIRED)
def test_a_promised_artifact_exists(name: str) -> None:
    found = find(name)
    assert isinstance(found, Artifact)
    assert found.name == name


@pytest.mark.parametrize("name", REQUIRED)
def test_an_artifact_can_be_shown_and_judged(name: str) -> None:
    found = find(name)
    assert found.title
    assert found.source
    assert found.draw is not None or found.table is not None
    assert found.published or found.claims, "nothing would be compared with a source"


@pytest.mark.parametrize("name", REQUIRED)
def test_published_numbers_say_where_they_are_published(name: str) -> None:
    for number in find(name).published:
        assert number.where
        assert number.tolerance >= 0
    published = [number.name for number in find(name).published]
    assert len(published) == len(set(published))


def without_evidence(artifact: Artifact) -> list[str]:
    """Reasons that no computed number would stand beside, and readings that no reason uses."""
    numbers = [one.name for one in artifact.published if one.why and not (one.variants or one.evidence or one.released)]
    numbers += [one.name for one in artifact.published if (one.variants or one.released) and not one.why]
    return numbers + [one.text for one in artifact.claims if one.why and not one.evidence]


@pytest.mark.parametrize("name", names())
def test_every_reason_has_evidence(name: str) -> None:
    assert without_evidence(find(name)) == []


def test_a_reason_without_evidence_would_be_noticed() -> None:
    said = Published("a", 1.0, 0.1, "here", "because")
    claim = Claim("b", "here", lambda result: False, "because")
    artifact = replace(find("figure-5.8"), published=(said,), claims=(claim,))
    assert without_evidence(artifact) == ["a", "b"]
    shown = replace(artifact, published=(replace(said, variants=readings("a")),), claims=(replace(claim, evidence=named("b")),))
    assert without_evidence(shown) == []


def test_names_are_in_the_order_of_the_sources() -> None:
    found = names()
    assert found.index("figure-4.6") < found.index("figure-5.2") < found.index("figure-5.10") < found.index("figure-b.1")
    assert found.index("figure-c.3") < found.index("table-1.1") < found.index("example-1") < found.index("beyond-optimal-window")


@pytest.mark.parametrize(
    ("shelf", "module", "name"),
    [
        ("figures", "figure_5_08", "figure-5.8"),
        ("figures", "figure_b_1", "figure-b.1"),
        ("figures", "figure_d_05", "figure-d.5"),
        ("tables", "table_4_1", "table-4.1"),
        ("examples", "example_03", "example-3"),
        ("claims", "lecture_one_bit", "lecture-one-bit"),
        ("beyond", "disc", "beyond-disc"),
        ("beyond", "beyond_disc", "beyond-disc"),
    ],
)
def test_a_module_has_the_name_people_use(shelf: str, module: str, name: str) -> None:
    assert artifact_name(shelf, module) == name


def test_capitals_and_blanks_do_not_matter() -> None:
    assert find(" Figure-B.1 ").name == "figure-b.1"


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownArtifact, match=r"did you mean .*figure-5\.8"):
        find("figure-5.08")
    with pytest.raises(UnknownArtifact, match="reproduce list"):
        find("the holy grail")


def test_listing_names_imports_no_artifact() -> None:
    program = (
        "import sys; from deniable_reproduce.catalogue import names; assert len(names()) > 40; "
        "print([name for name in sys.modules if '.figure_' in name or '.example_' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
