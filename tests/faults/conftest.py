"""The server that keeps every byte, and the folder that stands for a device."""

from tests.guards.conftest import folder, tap

__all__ = ["folder", "tap"]
