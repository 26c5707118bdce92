"""What a mechanism costs in accuracy: probabilities, errors, variances and information, from its own integers.

pmf, cdf, interval_probability, density     the law of a report
mean, bias, variance                        of the number it is read as
expected_error, error_curve                 at a value, over the domain
worst_case, average_error                   the largest, and under a uniform prior
support                                     p, q and count variance of categorical mechanisms
mutual_information                          in nats
closed_form, closed_forms                   the published formulas, to compare with
"""
