"""What runs on the user's own device: check the recipe, randomize, forget. Standard library only.

Client      randomizes by someone else's recipe, after checking it
Memo        keeps the permanent bits of repeated questions on disk
Repeated    reports of a value that is asked for again and again
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.client.client import Client

if TYPE_CHECKING:
    from deniable.client.memo import Memo, Repeated

__all__ = ["Client", "Memo", "Repeated"]


def __getattr__(name: str) -> Any:
    # A first report must not wait for a database it does not need.
    if name in ("Memo", "Repeated"):
        from deniable.client import memo

        return getattr(memo, name)
    raise AttributeError(f"module 'deniable.client' has no attribute {name!r}")
