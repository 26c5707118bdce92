"""Reports as lines of JSON and as rows of CSV, read piece by piece."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from deniable.batch.files.intake import OTHER_RECIPE, UNREADABLE, Intake, reason_of
from deniable.core import VERSION, output_bits, report_from_json
from deniable.errors import InvalidParameter, Malformed, WireError

ROWS = 1 << 16
LONGEST_LINE = 1 << 20
DIGITS = {10: frozenset("0123456789"), 16: frozenset("0123456789abcdef")}
FIRST = re.compile(rb'\{"reports":(0|[1-9][0-9]{0,18})\}')
Progress = Callable[[int], None]


def read_json_lines(file: BinaryIO, name: str, intake: Intake, progress: Progress) -> None:
    """One wire document per line; empty lines are skipped. A first line may say how many follow (`announcement`)."""
    mechanism = intake.mechanism
    start = f'{{"version":{VERSION},"recipe":"{mechanism.fingerprint}","output":"'.encode()
    longest = max(LONGEST_LINE, output_bits(mechanism.channel))
    waiting = Waiting(intake, name, "line")
    announced, records = None, 0
    for number, line in enumerate(iter(lambda: file.readline(longest), b""), start=1):
        progress(len(line))
        text = line.strip()
        if not text:
            continue
        if first := FIRST.fullmatch(text):  # files that were put together have several
            _compare(announced, records, name, intake, waiting)
            announced, records = int(first[1]), 0
            continue
        records += 1
        digits = text[len(start) : -2].decode("ascii", "replace") if text.startswith(start) and text.endswith(b'"}') else ""
        if digits and DIGITS[16].issuperset(digits) and (digits[0] != "0" or digits == "0"):
            waiting.add(digits, number)  # the very text `report_to_json` writes: no need to parse it
            continue
        try:
            waiting.add(format(report_from_json(mechanism, text).output, "x"), number)
        except WireError as error:
            if not line.endswith(b"\n") and reason_of(error) == UNREADABLE and len(line) < longest:
                waiting.flush()
                intake.note(name, f"ends early: line {number} is cut off")
            else:
                waiting.refuse(reason_of(error), number)
    _compare(announced, records, name, intake, waiting)
    waiting.flush()


def _compare(announced: int | None, records: int, name: str, intake: Intake, waiting: Waiting) -> None:
    if announced is not None and announced != records:
        waiting.flush()
        intake.note(name, f"ends early: it says that {announced} reports were written, and has {records}")


def read_csv(file: BinaryIO, name: str, intake: Intake, progress: Progress, column: str, base: int) -> None:
    """A CSV file with a header line; the header is row 1, as in a spreadsheet."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
    pieces = _Lines(text, progress)
    table = csv.reader(pieces, strict=True)
    try:
        header = next(table, [])
    except csv.Error:
        header = []
    if not header:
        raise Malformed(f"{name} must be a CSV file with a header line")
    place = column_place(header, column, name)
    recipe = header.index("recipe") if "recipe" in header else None
    waiting = Waiting(intake, name, "row", base)
    before, cut = pieces.count, False
    while True:
        try:
            cells = next(table)
        except StopIteration:
            break
        except csv.Error:
            # A quote that is never closed swallows lines: each of them is a lost record.
            waiting.refuse(UNREADABLE, before + 1, pieces.count - before)
            before = pieces.count
            continue
        first, before = before + 1, pieces.count
        if not cells:
            continue
        if len(cells) < len(header) and not pieces.last.endswith(("\n", "\r")):
            waiting.flush()
            cut = True
            intake.note(name, f"ends early: row {first} is cut off")
        elif len(cells) != len(header):
            waiting.refuse(UNREADABLE, first, before - first + 1)
        elif recipe is not None and cells[recipe] != intake.mechanism.fingerprint:
            waiting.refuse(OTHER_RECIPE, first)
        else:
            waiting.add(cells[place], first)
    waiting.flush()
    if before > 1 and not pieces.last.endswith(("\n", "\r")) and not cut:
        intake.note(name, f"has no line break at its end: row {before} may be cut off")
    text.detach()


class _Lines:
    """Lines of a text, never longer than a bound, counted."""

    def __init__(self, text: io.TextIOWrapper, progress: Progress) -> None:
        self.text, self.progress = text, progress
        self.count = 0
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        while line := self.text.readline(LONGEST_LINE):
            self.count += 1
            self.last = line
            self.progress(len(line))
            yield line


class Waiting:
    """Outputs in digits on their way to the intake, a chunk at a time."""

    def __init__(self, intake: Intake, name: str, word: str, base: int = 16) -> None:
        self.intake, self.name, self.word, self.base = intake, name, word, base
        self.texts: list[str] = []
        self.numbers: list[int] = []

    def add(self, text: str, number: int) -> None:
        """One output and the number of its row or line."""
        self.texts.append(text)
        self.numbers.append(number)
        if len(self.texts) >= ROWS:
            self.flush()

    def refuse(self, reason: str, number: int, count: int = 1) -> None:
        """A bad record; when strict, those before it come first."""
        if self.intake.strict:
            self.flush()
        self.intake.refuse(reason, self.name, f"{self.word} {number}", count)

    def flush(self) -> None:
        """Hand over what has come together."""
        texts, numbers = self.texts, self.numbers
        self.texts, self.numbers = [], []
        digits = DIGITS[self.base]
        longest = output_bits(self.intake.mechanism.channel) + 1
        if not digits.issuperset("".join(texts)) or "" in texts:
            texts, numbers = self._readable(texts, numbers, digits)
        if texts:
            # A number with more digits than the widest output has bits is out of range, without being computed.
            outputs = [int(text, self.base) if len(text) <= longest else -1 for text in texts]
            self.intake.take(outputs, self.name, lambda i: f"{self.word} {numbers[i]}")

    def _readable(self, texts: list[str], numbers: list[int], digits: frozenset[str]) -> tuple[list[str], list[int]]:
        """Without those that are not digits; blanks around them and capitals are forgiven."""
        stripped = [text.strip().lower() for text in texts]
        fine = [bool(text) and digits.issuperset(text) for text in stripped]
        if self.intake.strict and not all(fine):
            first = fine.index(False)
            self.texts, self.numbers = stripped[:first], numbers[:first]
            self.refuse(UNREADABLE, numbers[first])
        if not all(fine):
            self.intake.refuse(UNREADABLE, self.name, self.word, fine.count(False))
        kept = [(text, number) for text, number, good in zip(stripped, numbers, fine, strict=True) if good]
        return [text for text, _ in kept], [number for _, number in kept]


def column_place(header: list[str], name: str, file: str) -> int:
    """Where the column with the outputs is."""
    if name in header:
        return header.index(name)
    near = difflib.get_close_matches(name, header, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(header)[:200]}"
    raise InvalidParameter(f"{file} has no column {name[:60]!r} with the reports' outputs; {hint}")
