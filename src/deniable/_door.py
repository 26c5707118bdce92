"""The door of a package: its public names, listed once in its stub, each loaded when it is first asked for.

A name that needs an extra which is not installed says so, in one sentence with the command that installs it.
"""

from __future__ import annotations

import re
import sys

from deniable._extras import required

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_IMPORT = re.compile(r"^from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose `__init__.pyi` says where each name is defined."""
    module = sys.modules[package]
    with open(f"{module.__path__[0]}/__init__.pyi", encoding="utf-8") as stub:
        statements = _IMPORT.findall(stub.read())
    homes = {
        part.split(" as ")[0].strip(): home for home, many, one in statements for part in (many or one).split(",") if part.strip()
    }

    def load(name: str) -> Any:
        value = getattr(required(homes[name]), name) if name in homes else _package(package, name)
        setattr(module, name, value)  # the next look-up finds it at once
        return value

    def names() -> list[str]:
        return sorted(homes)

    return load, names, sorted(homes)


def _package(package: str, name: str) -> Any:
    """A package inside, which need not be imported first: `deniable.estimators` after `import deniable`."""
    inside = f"{package}.{name}"
    try:
        return required(inside)
    except ModuleNotFoundError as error:
        if error.name != inside:  # it is there, but not what it needs
            raise
        raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
