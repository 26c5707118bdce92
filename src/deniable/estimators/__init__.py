"""From many private reports to a number with its uncertainty.

counts, shares      how many people have each value, unbiased, from the exact p and q of the channel
likely_shares       the most likely shares, never negative (EM; biased)
mean, variance      of the values behind numeric reports, unbiased where the mechanism allows it
distribution        the shares of bins, smoothed (EMS) or most likely (EM)
histogram           the shares of few bins by linear inversion, for values spread evenly within bins
quantiles           the values below which given shares of the users lie
range_share         the share of users between two values
shape               one fit for all of these, so that they agree
direction           the mean direction on a circle, and how concentrated the directions are
attribute_shares    the shares of every field of a record; choose_strategy says how best to ask for them
two_way             the joint shares of two fields
shares_over_rounds, shares_per_user     shares from repeated questions
heavy_hitters       the frequent words of a domain too large to list
HierarchicalHistogram    a protocol of its own for ranges and quantiles

What one report costs in accuracy, from the integers of its mechanism:

pmf, cdf, density, interval_probability     the law of a report
report_mean, report_bias, report_variance   of the number it is read as
expected_error, worst_case, average_error   at a value, at the worst one, on average
support, mutual_information                 p, q and count variance of categorical mechanisms; nats
closed_form, closed_forms                   the published formulas, to compare with
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
