"""The collector: an HTTP service that counts every report exactly once and remembers nothing else.

Store           SQLite or PostgreSQL: surveys, receipts, sums
Writer          group commit: many requests, one transaction
planned_survey  a survey file whose mechanisms the planner chooses; `opened` keeps it in a store
make_app        the ASGI application
serve           run it
"""

from deniable.collector.addresses import Proxies
from deniable.collector.app import make_app
from deniable.collector.limits import Limits
from deniable.collector.planned import Planned, opened, planned_survey
from deniable.collector.server import Serving, listening_socket, run_workers, serve
from deniable.collector.store import Arrival, Store
from deniable.collector.writer import Writer

__all__ = [
    "Arrival",
    "Limits",
    "Planned",
    "Proxies",
    "Serving",
    "Store",
    "Writer",
    "listening_socket",
    "make_app",
    "opened",
    "planned_survey",
    "run_workers",
    "serve",
]
