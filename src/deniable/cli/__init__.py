"""The `deniable` command. Rooms that need NumPy are imported inside the commands that use them."""

from deniable.cli.app import main
from deniable.cli.terminal import console, print_json, table

__all__ = ["console", "main", "print_json", "table"]
