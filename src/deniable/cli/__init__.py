"""The `deniable` command. What needs an extra is imported inside the commands that use it."""

import sys

from deniable._extras import required
from deniable.errors import MissingPackage

__all__ = ["console", "main", "print_json", "table"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from deniable.cli.terminal import console, print_json, table


def main(args: "Sequence[str] | None" = None) -> None:
    """Run the command; without the extra `cli`, say how to get it."""
    try:
        app = required("deniable.cli.app")
    except MissingPackage as missing:
        sys.stderr.write(f"deniable: {missing}\n")
        sys.exit(2)
    app.main(args, prog_name="deniable")


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(required("deniable.cli.terminal"), name)
