"""What a quick run with data found, kept in record.json: pages that quote it are checked against it, and so is every later run.

    deniable reproduce all --quick --data DIR --output output/reproduce
    python -m reproduce.tests.recorded output/reproduce

writes the record and the summary of docs/reproduce.md. It refuses results that other code has computed.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from deniable_reproduce.agreement import FROM, quoted
from deniable_reproduce.artifact import Artifact, Result
from deniable_reproduce.catalogue import find, names
from deniable_reproduce.pictures import significant
from deniable_reproduce.run import code_version
from deniable_reproduce.summary import CHAPTERS, chapter_of
from deniable_reproduce.verdict import CLAIMS, NOT_COMPARED, RELEASED, REPRODUCED, STANDINGS, Verdict

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("record.json")
PAGE = ROOT / "docs" / "reproduce.md"
BEGIN, END = "<!-- summary: python -m reproduce.tests.recorded -->", "<!-- end of the summary -->"
DIGITS = 8
Record = dict[str, Any]


def label(verdict: Verdict) -> str:
    """What a verdict is about: the name of a number, or the words of a claim."""
    return str(verdict.published) if verdict.name == CLAIMS else verdict.name


def labels(artifact: Artifact) -> list[str]:
    """The same without computing anything."""
    return [*(number.name for number in artifact.published), *(claim.text for claim in artifact.claims)]


def standings(artifact: Artifact, result: Result) -> dict[str, list[str]]:
    """Verdict and standing of everything that does not compare times of the run."""
    timed = {claim.text for claim in artifact.claims if claim.measured}
    return {label(one): [one.verdict, one.standing] for one in artifact.verdicts(result) if label(one) not in timed}


def entry(artifact: Artifact, result: Result) -> Record:
    """What is kept of one artifact: its verdicts, and every number that a page may quote."""
    verdicts = artifact.verdicts(result)
    numbers = set(_numbers(verdicts)) | set(leaves(result.get("numbers", {}))) | set(leaves(result.get("released", {})))
    return {
        "verdicts": {label(one): [one.verdict, one.standing] for one in verdicts},
        "numbers": sorted({significant(number, DIGITS) for number in numbers if math.isfinite(number)}),
        "from": sorted({level for one in verdicts for level in _first_levels(one)}),
    }


def _first_levels(verdict: Verdict) -> Iterator[float]:
    """From which ε on a claim holds: by its levels where it differs, by its words where it does not."""
    levels = sorted(verdict.levels)
    holding = list(takewhile(lambda level: verdict.levels[level], reversed(levels)))
    if verdict.levels and holding:
        yield holding[-1]
    if verdict.verdict == REPRODUCED:
        yield from map(float, FROM.findall(str(verdict.published)))


def _numbers(verdicts: list[Verdict]) -> Iterator[float]:
    for one in verdicts:
        for name, value in (("published", one.published), ("ours", one.ours), ("released", one.released)):
            yield from leaves(value, f"{one.name}, {name}")
        yield from leaves({**one.evidence, **one.variants})
        yield from (*one.given, one.tolerance)
        yield from (value for _, value, _ in quoted(one.name))
        if one.verdict == REPRODUCED:  # a claim that holds has looked at the numbers of its own words
            yield from (value for _, value, _ in quoted(str(one.published)))


def leaves(found: Any, name: str = "") -> Iterator[float]:
    """All numbers; one whose name has a “%” is computed in percent, and kept as a share too."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from leaves(value, str(key))
    elif isinstance(found, list):
        for value in found:
            yield from leaves(value, name)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        yield float(found)
        if "%" in name:
            yield found / 100


def recorded() -> dict[str, Record]:
    """The record, by artifact."""
    found: dict[str, Record] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def changed(artifact: Artifact, result: Result) -> list[str]:
    """What a run judges otherwise than the record; nothing is asked of times, nor of what had no data here or there."""
    found = recorded().get(artifact.name, {"verdicts": {}})["verdicts"]
    pairs = [(name, found[name], now) for name, now in standings(artifact, result).items() if name in found]
    return [f"{name}: {was} is now {now}" for name, was, now in pairs if was != now and NOT_COMPARED not in (was[0], now[0])]


@dataclass(frozen=True)
class Tally:
    """How many verdicts have a standing, and how many of those hold with the released setting only."""

    count: int
    as_released: int

    def __str__(self) -> str:
        return f"{self.count or ''}{f' ({self.as_released})' if self.as_released else ''}"


def tally(record: Mapping[str, Record], standing: str, chapter: str | None = None) -> Tally:
    """Of one chapter, or of all."""
    own = [one for name, one in record.items() if chapter in (None, chapter_of(name))]
    kinds = [kind for one in own for kind, found in one["verdicts"].values() if found == standing]
    return Tally(len(kinds), kinds.count(RELEASED))


def summary(record: Mapping[str, Record]) -> str:
    """The counts of docs/reproduce.md: a sentence, and a row for every chapter."""
    whole = {standing: tally(record, standing).count for standing in STANDINGS}
    left_out = [name for name in names() if name not in record]
    without = sum(kind == NOT_COMPARED for one in record.values() for kind, _ in one["verdicts"].values())
    skipped = f" ({', '.join(f'`{name}`' for name in left_out)} skipped)" if left_out else ""
    lines = [
        f"`deniable reproduce all --data DIR` judges {sum(whole.values())} numbers and claims of {len(record)} artifacts{skipped}: "
        f"{whole['confirmed']} are confirmed, {whole['corrected']} corrected, {whole['improved']} improved on and "
        f"{whole['open']} open. {without} of the open ones could not be compared, because a file or a package was not there. "
        "None differs without a reason.",
        "",
        f"| chapter | {' | '.join(STANDINGS)} |",
        f"|---|{'---|' * len(STANDINGS)}",
    ]
    for chapter in CHAPTERS:
        cells = [str(tally(record, standing, chapter.key)) for standing in STANDINGS]
        lines.append(f"| **{chapter.title}** {chapter.sentence} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page_with(text: str, block: str) -> str:
    """The page with another summary."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert rest, f"{PAGE.name} has no {BEGIN}"
    assert END in rest, f"{PAGE.name} has no {END}"
    return f"{before}{BEGIN}\n\n{block}\n\n{END}{after}"


def main() -> None:
    """Write the record and the page's summary from the results of a run."""
    record = {}
    for name in names():
        path = Path(sys.argv[1]) / "results" / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            assert kept["identity"]["code"] == code_version(), f"{name} was computed by other code: run it again"
            assert kept["identity"]["size"] == "quick", f"{name} was computed in full"
            record[name] = entry(find(name), kept["result"])
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in record.items())
    RECORD.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), summary(record)), encoding="utf-8")


if __name__ == "__main__":
    main()
