"""What a mechanism costs in accuracy: probabilities, errors, variances and information, from its own integers.

pmf, cdf, interval_probability, density     the law of a report
mean, bias, variance                        of the number it is read as
expected_error, error_curve                 at a value, over the domain
worst_case, average_error                   the largest, and under a uniform prior
support                                     p, q and count variance of categorical mechanisms
mutual_information                          in nats
closed_form, closed_forms                   the published formulas, to compare with
"""

from deniable.utility.closed_forms import closed_form, closed_forms
from deniable.utility.distribution import Density, cdf, density, interval_probability, pmf
from deniable.utility.error import ErrorCurve, average_error, error_curve, expected_error
from deniable.utility.information import mutual_information
from deniable.utility.loss import Loss
from deniable.utility.moments import bias, mean, variance
from deniable.utility.support import Support, support
from deniable.utility.worst_case import WorstCase, worst_case

__all__ = [
    "Density",
    "ErrorCurve",
    "Loss",
    "Support",
    "WorstCase",
    "average_error",
    "bias",
    "cdf",
    "closed_form",
    "closed_forms",
    "density",
    "error_curve",
    "expected_error",
    "interval_probability",
    "mean",
    "mutual_information",
    "pmf",
    "support",
    "variance",
    "worst_case",
]
