"""One grammar of charts for the command line, the documents and notebooks.

mechanism_chart     what reports of any mechanism look like, by the kind of picture that suits them
density_chart       what a report looks like, for several private values
error_chart         the expected error over the domain, for several mechanisms
estimate_chart      estimates with their intervals beside the truth
distribution_chart  the density of a number, with a band
quantile_chart      the share up to each number, with a band and marked quantiles
cumulative_band     what quantile_chart draws, from an estimated distribution
range_chart         every range of ordered categories at once
cdf_chart           the share up to each category, with a band
marginal_chart      tables of several fields: bars with intervals
rose_chart          directions or hours, around a circle
save                as PNG, SVG or HTML, without any network
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
