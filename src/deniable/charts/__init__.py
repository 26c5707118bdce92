"""One grammar of charts for the command line, the documents and notebooks.

density_chart       what a report looks like, for several private values
error_chart         the expected error over the domain, for several mechanisms
estimate_chart      estimates with their intervals beside the truth
distribution_chart  the density of a number, with a band
quantile_chart      the share up to each number, with a band and marked quantiles
cumulative_band     what quantile_chart draws, from an estimated distribution
rose_chart          directions or hours, around a circle
save                as PNG, SVG or HTML, without any network
"""

from deniable.charts.cumulative import cumulative_band
from deniable.charts.density import density_chart
from deniable.charts.distribution import distribution_chart, quantile_chart
from deniable.charts.error import error_chart
from deniable.charts.estimates import estimate_chart
from deniable.charts.files import FORMATS, save
from deniable.charts.rose import COMPASS, rose_chart

__all__ = [
    "COMPASS",
    "FORMATS",
    "cumulative_band",
    "density_chart",
    "distribution_chart",
    "error_chart",
    "estimate_chart",
    "quantile_chart",
    "rose_chart",
    "save",
]
