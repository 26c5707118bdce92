"""JSON in pieces: the names, values and long lists of coordinates of a file, without ever holding all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Literal, NamedTuple

from deniable.errors import Malformed

BLOCK = 1 << 16
LONGEST = 1 << 22
"""Characters of a single name, value or position; longer ones are refused."""
DEEPEST = 64

TOKEN = re.compile(r'[ \t\r\n]*([{}\[\],:]|"(?:[^"\\]|\\.)*"|[^ \t\r\n{}\[\],:"]+)', re.DOTALL)
POSITIONS = re.compile(r"(?:[ \t\r\n]*\[[-+.0-9eE, \t\r\n]*\][ \t\r\n]*,)+")
"""Positions of nothing but numbers that end in a comma: another follows, so that the list is surely not over."""


class Event(NamedTuple):
    """A bracket, a scalar ("value"), the name before a value ("key"), or a batch of positions ("positions")."""

    kind: Literal["{", "}", "[", "]", "key", "value", "positions"]
    value: Any = None


class JsonEvents:
    """The events of a JSON text. Inside `coordinates`, set by the caller, lists of numbers come in batches."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._text, self._at, self._ended = "", 0, False
        self.coordinates = False
        """The caller is inside a list of positions."""
        self.read = 0
        """Characters read so far."""
        self._flow = self._events()

    def __iter__(self) -> Iterator[Event]:
        return self._flow

    def _events(self) -> Iterator[Event]:
        stack: list[str] = []
        state = "value"  # what may come next: value, first (value or end), key, name (first key or end), colon, after
        while True:
            if self.coordinates and state in ("value", "first") and stack and stack[-1] == "[":
                batch = self._positions()
                if batch:
                    yield Event("positions", batch)
                    state = "value"
                    continue
            mark = self._token()
            if mark == "":
                if stack or state != "after":
                    raise Malformed("the JSON text ends too early")
                return
            if mark in ("}", "]"):
                wanted = ("after", "name") if mark == "}" else ("after", "first")
                if not stack or stack.pop() != ("{" if mark == "}" else "[") or state not in wanted:
                    raise self.malformed()
                yield Event("}" if mark == "}" else "]")
                state = "after"
            elif mark == ",":
                if state != "after" or not stack:
                    raise self.malformed()
                state = "key" if stack[-1] == "{" else "value"
            elif mark == ":":
                if state != "colon":
                    raise self.malformed()
                state = "value"
            elif state in ("key", "name"):
                if mark[0] != '"':
                    raise self.malformed()
                yield Event("key", self._scalar(mark))
                state = "colon"
            elif state not in ("value", "first"):
                raise self.malformed()
            elif mark in ("{", "["):
                stack.append(mark)
                if len(stack) > DEEPEST:
                    raise Malformed(f"the JSON text is nested deeper than {DEEPEST} levels")
                yield Event("{" if mark == "{" else "[")
                state = "name" if mark == "{" else "first"
            else:
                yield Event("value", self._scalar(mark))
                state = "after"

    def malformed(self) -> Malformed:
        """An error that says where, not what: the text may be private."""
        return Malformed(f"the file is not well-formed JSON near character {self.read - len(self._text) + self._at}")

    def _more(self) -> bool:
        """Read another block; forget what has been used."""
        if self._ended:
            return False
        if len(self._text) - self._at > LONGEST:
            raise Malformed(f"a single value of the JSON text is longer than {LONGEST} characters")
        block = self._file.read(BLOCK)
        self.read += len(block)
        self._text, self._at, self._ended = self._text[self._at :] + block, 0, not block
        return True

    def _token(self) -> str:
        while True:
            match = TOKEN.match(self._text, self._at)
            # A number or a word at the end of the block may go on in the next one.
            if match and (match.end() < len(self._text) or self._ended or match[1] in "{}[],:" or match[1][0] == '"'):
                self._at = match.end()
                return match[1]
            if not self._more():
                if self._text[self._at :].strip():
                    raise self.malformed()
                return ""

    def _positions(self) -> list[Any]:
        """As many positions as the block holds, each followed by a comma; an empty list when there is none."""
        if len(self._text) - self._at < BLOCK // 2:
            self._more()
        match = POSITIONS.match(self._text, self._at)
        if not match:
            return []
        self._at = match.end()
        try:
            return list(json.loads(f"[{match[0].rstrip()[:-1]}]", parse_int=float))
        except (ValueError, RecursionError):
            raise self.malformed() from None

    def _scalar(self, mark: str) -> Any:
        try:
            return json.loads(mark)
        except (ValueError, RecursionError):
            raise self.malformed() from None
