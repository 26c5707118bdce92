"""The `deniable` command. Rooms that need NumPy are imported inside the commands that use them."""

from deniable.cli.app import main

__all__ = ["main"]
