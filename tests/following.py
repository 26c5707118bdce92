"""A page, followed to the letter: its blocks in order, in one folder, each output beside what the page shows.

`…` on a page stands for anything, alone on a line for any lines. Where reports are random the sentence above the block says
"each number by less than 10", and numbers may differ by that. Everything else must be equal, up to the lines of tables.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ADDRESS = "http://127.0.0.1:8000"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEEWAY = re.compile(r"each number by less than (\d+)")
NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
PATIENCE = 240


@dataclass(frozen=True)
class Block:
    """One fenced block: its kind, its text, and how far its numbers may be off."""

    kind: str
    body: str
    leeway: float = 0.0


def page_blocks(text: str) -> list[Block]:
    """All fenced blocks in order; leeway is what the words since the block before say."""
    found, end = [], 0
    for match in BLOCK.finditer(text):
        said = LEEWAY.search(text[end : match.start()])
        found.append(Block(match[1], match[2], float(said[1]) if said else 0.0))
        end = match.end()
    return found


def blocks(text: str, kind: str) -> list[str]:
    """The texts of the blocks of one kind."""
    return [block.body for block in page_blocks(text) if block.kind == kind]


def block_steps(body: str) -> list[tuple[str, list[str]]]:
    """Every command after a `$`, over several lines where they end with a backslash, and what must be printed under it."""
    found: list[tuple[str, list[str]]] = []
    for line in re.sub(r"\\\n\s*", "", body).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def steps(text: str) -> list[tuple[str, list[str]]]:
    """The steps of all console blocks of a page."""
    return [step for body in blocks(text, "console") for step in block_steps(body)]


def shown(lines: list[str]) -> list[str]:
    """Lines as they must agree: without rules and empty ones, one space between words."""
    found = (" ".join(line.replace("─", "").split()) for line in lines)
    return [line for line in found if line]


def agrees(expected: str, actual: str, leeway: float = 0.0) -> bool:
    """One line: equal up to `…` and, with leeway, up to numbers that are nearly the same."""
    pattern, numbers = "", []
    for part in re.split(f"(…|<hash>|{NUMBER})", expected):
        if leeway and re.fullmatch(NUMBER, part):
            numbers.append(part)
            pattern += f"({NUMBER})"
        else:
            pattern += {"…": ".+", "<hash>": "[0-9a-f]{64}"}.get(part, re.escape(part))
    match = re.fullmatch(pattern, actual)
    if match is None:
        return False
    return all(abs(as_number(one) - as_number(other)) < leeway for one, other in zip(numbers, match.groups(), strict=True))


def as_number(text: str) -> float:
    """A printed number, with or without thousands separators."""
    return float(text.replace(",", ""))


def compared(expected: list[str], actual: list[str], leeway: float = 0.0) -> None:
    """All lines, in order where nothing is random; a line that is only `…` stands for any number of lines."""
    wanted, left = shown(expected), shown(actual)
    free = False
    for line in wanted:
        if line == "…":
            free = True
            continue
        # Rows sorted by a random number may change places; each of them must still be there once.
        reach = left if free or leeway else left[:1]
        hit = next((place for place, said in enumerate(reach) if agrees(line, said, leeway)), None)
        assert hit is not None, f"the page says {line!r}; printed from there: {left}"
        if leeway:
            del left[hit]
        else:
            del left[: hit + 1]
            free = False
    assert free or not left, f"the page does not show {left}"


@contextmanager
def serving(words: list[str], folder: Path, lines: int) -> Iterator[list[str]]:
    """A server that is stopped with Ctrl-C, as the pages say; its first lines are what it says when it is ready."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield [process.stdout.readline().rstrip("\n") for _ in range(lines)]
    finally:
        process.send_signal(2)
        assert process.wait(PATIENCE) == 0
        process.stdout.close()


@dataclass
class Reader:
    """Someone who does what a page says, in one folder, at one free port."""

    folder: Path
    port: int
    stack: ExitStack
    names: dict[str, Any] = field(default_factory=dict)
    survey: str | None = None
    """The hash the server printed; the page calls it HASH."""

    @property
    def address(self) -> str:
        """Where the page's server is here."""
        return ADDRESS.replace("8000", str(self.port))

    def here(self, text: str) -> str:
        """The page's words with this server's address and this survey's hash."""
        text = text.replace(ADDRESS, self.address)
        return text if self.survey is None else text.replace("HASH", self.survey)

    def follow(self, text: str) -> int:
        """Every block of a page, in order; how many commands and examples were run."""
        done = 0
        for block in page_blocks(text):
            if block.kind == "pycon":
                done += self.example(self.here(block.body))
            elif block.kind == "console":
                for command, expected in block_steps(block.body):
                    self.step(command, [self.here(line) for line in expected], block.leeway)
                    done += 1
        return done

    def example(self, body: str) -> int:
        """A session of the interpreter: what it printed is what is shown."""
        test = doctest.DocTestParser().get_doctest(body, self.names, "page", None, 0)
        failures: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=failures.append, clear_globs=False)
        assert not failures, "".join(failures)
        self.names = test.globs
        return len(test.examples)

    def step(self, command: str, expected: list[str], leeway: float) -> None:
        """One command line."""
        words = shlex.split(self.here(command))
        special: dict[str, Callable[[list[str]], None]] = {"pip": installable, "make": has_target}
        if words[0] in special:
            special[words[0]](words)
        elif words[:2] == ["deniable", "serve"]:
            self.serve(words, expected)
        else:
            done = subprocess.run(program(words), cwd=self.folder, capture_output=True, text=True, check=False, timeout=PATIENCE)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            if expected:
                compared(expected, done.stdout.splitlines(), leeway)
            if words[:2] == ["deniable", "submit"]:
                time.sleep(1.1)  # estimates may be a second old

    def serve(self, words: list[str], expected: list[str]) -> None:
        """The server of the page runs until the page has been read."""
        words = program(words) if self.port == 8000 else [*program(words), "--port", str(self.port)]
        said = self.stack.enter_context(serving(words, self.folder, len(expected) or 6))
        if expected:
            compared(expected, said)
        matched = re.search("[0-9a-f]{64}", "".join(said))
        assert matched is not None, said
        self.survey = matched[0]


def program(words: list[str]) -> list[str]:
    """A command line with this environment's interpreter."""
    if words[0] == "deniable":
        return [sys.executable, "-m", "deniable.cli", *words[1:]]
    return [sys.executable, *words[1:]] if words[0] == "python" else words


def installable(words: list[str]) -> None:
    """`pip install '.[extra]'` is not run, but the extra must exist."""
    assert words[:2] == ["pip", "install"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    match = re.fullmatch(r"\.(?:\[(\w+(?:,\w+)*)\])?", words[2])
    assert match is not None, words
    assert set((match[1] or "files").split(",")) <= set(extras), words


def has_target(words: list[str]) -> None:
    """`make demo` would install everything again: it is only asked what it would do."""
    asked = subprocess.run(["make", "--dry-run", *words[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert asked.returncode == 0, asked.stderr
