"""The collector: an HTTP service that counts every report exactly once and remembers nothing else.

Store           SQLite or PostgreSQL: surveys, receipts, sums
Writer          group commit: many requests, one transaction
planned_survey  a survey file whose mechanisms the planner chooses; `opened` keeps it in a store
make_app        the ASGI application
serve           run it
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
