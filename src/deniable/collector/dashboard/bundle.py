"""The JavaScript client as one file: an ES module, and a classic script for pages without modules.

    python -m deniable.collector.dashboard.bundle FOLDER

writes both, and `integrity.json` with the hashes that a page names in `integrity="…"`. Every module becomes a function that is
called once, after those it imports; nothing is renamed, and nothing is left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from functools import cache
from pathlib import Path

from deniable.errors import InvalidParameter

ENTRY = "index.js"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_AGAIN = re.compile(r'^export (?:\{([^}]*)\}|(\*)) from "([^"]+)";\n', re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


@cache
def bundled(folder: Path) -> dict[str, bytes]:
    """The files by name."""
    modules: dict[str, tuple[str, list[str]]] = {}
    _add(modules, folder, ENTRY, ())
    parts = [
        f"const {_name(path)} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"
        for path, (body, names) in modules.items()
    ]
    whole = "\n".join(parts)
    public = modules[ENTRY][1]
    names = ", ".join(entry.partition(":")[0] for entry in public)
    head = "// deniable: local differential privacy on this device. Apache-2.0. Made from its modules; do not edit.\n"
    module = f"{head}{whole}\nexport const {{ {names} }} = {_name(ENTRY)};\n"
    classic = f'{head}var deniable = (() => {{\n"use strict";\n{whole}\nreturn {_name(ENTRY)};\n}})();\n'
    files = {"deniable.js": module.encode(), "deniable.classic.js": classic.encode()}
    hashes = {name: integrity(data) for name, data in files.items()}
    return {**files, "integrity.json": (json.dumps(hashes, indent=2) + "\n").encode()}


def integrity(data: bytes) -> str:
    """What a page writes into `integrity="…"`."""
    return f"sha384-{base64.b64encode(hashlib.sha384(data).digest()).decode()}"


def _add(modules: dict[str, tuple[str, list[str]]], folder: Path, path: str, above: tuple[str, ...]) -> None:
    if path in modules:
        return
    if path in above:
        raise InvalidParameter(f"{path} imports itself by way of others; the client's modules must not")
    text = (folder / path).read_text(encoding="utf-8")
    for source in [match[1] for match in _IMPORT.findall(text)] + [match[2] for match in _AGAIN.findall(text)]:
        _add(modules, folder, _resolved(path, source), (*above, path))
    exported: list[str] = []

    def taken(match: re.Match[str]) -> str:
        names = ", ".join(": ".join(part.split(" as ")) for part in _parts(match[1]))
        return f"const {{ {names} }} = {_name(_resolved(path, match[2]))};\n"

    def passed_on(match: re.Match[str]) -> str:
        source = _resolved(path, match[3])
        names = [entry.partition(":")[0] for entry in modules[source][1]] if match[2] else _parts(match[1])
        exported.extend(f"{name.split(' as ')[-1]}: {_name(source)}.{name.split(' as ')[0]}" for name in names)
        return ""

    def declared(match: re.Match[str]) -> str:
        exported.append(match[2])
        return f"{match[1]} {match[2]}"

    body = _DECLARED.sub(declared, _AGAIN.sub(passed_on, _IMPORT.sub(taken, text)))
    left = _LEFT.search(body)
    if left is not None:
        raise InvalidParameter(f"{path} has a line that cannot be put into one file: {left[0][:80]}")
    modules[path] = (body.strip(), exported)


def _parts(names: str) -> list[str]:
    return [part.strip() for part in names.split(",") if part.strip()]


def _resolved(path: str, source: str) -> str:
    parts = list(Path(path).parent.parts)
    for part in source.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _name(path: str) -> str:
    return "m_" + re.sub(r"\W", "_", path.removesuffix(".js"))


def main(folder: str) -> None:
    """Write all files into a folder."""
    from deniable.collector.dashboard.pages import sdk_folder

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, data in bundled(sdk_folder()).items():
        (place / name).write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1])
