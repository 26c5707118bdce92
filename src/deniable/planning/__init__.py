"""Which mechanism, how much epsilon, how many people: a question becomes a plan.

Question      what is to be learned, and at what price
plan          the candidates, best first, with predicted errors; or the smallest epsilon or number of users
Plan          candidates, the pick and why, what was left out, and a bound that no mechanism can beat
Candidate     one way to ask: error, interval, bytes, work, certificate, and what fake users could do
lower_bound   the least error any mechanism can have, or NoBound: that none is known
affordable_rounds, training_choices   rounds of training that a person's lifetime pays for, all together or in turns
Impossible    raised when no candidate can meet a target

design              a domain, a loss and an epsilon: the mechanism, its error, and a bound no mechanism can beat
Answer              what it returns
best_quantiser      the closed form for average squared error
best_window_at      the window with the least error at one value; best_average_window: on average
best_in_family      references made of few shapes; best_unbiased_window: the published unbiased family at its best
limit_of_worst      what errors tend to as epsilon grows, and the shape of the best reference; limit_of_average
extremal_design     reports that tell two distributions apart; regimes, sample_size
split_budget        epsilon divided among parts with the least sum of errors; split_record, direction_split
design_workload     the best mechanism for any linear questions (prefixes, ranges, marginals, your own), with a certified gap

Whatever a program finds in floats only chooses public parameters: the mechanism has integer weights, its privacy is
checked exactly, and its error is measured from those integers.
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
