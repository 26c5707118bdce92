"""One grammar of charts for the command line, the documents and notebooks.

density_chart       what a report looks like, for several private values
error_chart         the expected error over the domain, for several mechanisms
estimate_chart      estimates with their intervals beside the truth
save                as PNG, SVG or HTML, without any network
"""

from deniable.charts.density import density_chart
from deniable.charts.error import error_chart
from deniable.charts.estimates import estimate_chart
from deniable.charts.files import FORMATS, save

__all__ = ["FORMATS", "density_chart", "error_chart", "estimate_chart", "save"]
