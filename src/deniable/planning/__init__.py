"""Which mechanism, how much epsilon, how many people: a question becomes a plan.

Question      what is to be learned, and at what price
plan          the candidates, best first, with predicted errors; or the smallest epsilon or number of users
Plan          candidates, the pick and why, what was left out, and a bound that no mechanism passes
Candidate     one way to ask: error, interval, bytes, work, certificate, and what fake users could do
lower_bound   the least error any mechanism can have, or NoBound: that none is known
Impossible    raised when no candidate can meet a target
"""

from deniable.planning.bounds import Bound, NoBound, lower_bound
from deniable.planning.candidate import Candidate, Plan
from deniable.planning.choose import Impossible, plan
from deniable.planning.question import TASKS, Question
from deniable.planning.way import LeftOut, Prediction, Simulated, Way

__all__ = [
    "TASKS",
    "Bound",
    "Candidate",
    "Impossible",
    "LeftOut",
    "NoBound",
    "Plan",
    "Prediction",
    "Question",
    "Simulated",
    "Way",
    "lower_bound",
    "plan",
]
