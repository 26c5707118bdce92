"""What runs on the user's own device: check the recipe, randomize, forget. Standard library only.

Client      randomizes by someone else's recipe, after checking it
Session     answers a survey within its budget and sends until it is acknowledged
Ledger      what this device has spent and drawn, in a file
Memo        keeps the permanent bits of repeated questions on disk
Repeated    reports of a value that is asked for again and again
USUAL_LIMIT what all reports of a person may cost together, unless your own code says otherwise
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from deniable.client.client import Client
from deniable.client.limits import USUAL_LIMIT

if TYPE_CHECKING:
    from deniable.client.ledger import Ledger
    from deniable.client.memo import Memo, Repeated
    from deniable.client.session import Patience, Receipt, Session
    from deniable.client.transport import HttpTransport, MockTransport, Transport, is_loopback

__all__ = [
    "USUAL_LIMIT",
    "Client",
    "HttpTransport",
    "Ledger",
    "Memo",
    "MockTransport",
    "Patience",
    "Receipt",
    "Repeated",
    "Session",
    "Transport",
    "is_loopback",
]

_HOMES = {
    "ledger": ("Ledger",),
    "memo": ("Memo", "Repeated"),
    "session": ("Patience", "Receipt", "Session"),
    "transport": ("HttpTransport", "MockTransport", "Transport", "is_loopback"),
}


def __getattr__(name: str) -> Any:
    # A first report must not wait for a database and a network it does not need.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"deniable.client.{home}"), name)
    raise AttributeError(f"module 'deniable.client' has no attribute {name!r}")
