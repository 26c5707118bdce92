"""Public data, checked against known checksums, and files of reports.

flights, wind_directions, airline_names     every flight that left New York City in 2013
read_reports                                files and frames of reports to sums, whatever their format and size
"""

from deniable.datasets.nycflights13 import Flights, airline_names, flights, wind_directions
from deniable.datasets.report_files import read_reports, total_bytes
from deniable.datasets.report_intake import Intake

__all__ = ["Flights", "Intake", "airline_names", "flights", "read_reports", "total_bytes", "wind_directions"]
