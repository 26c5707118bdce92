"""The best mechanism there is, with a certificate.

design              a domain, a loss and an epsilon: the mechanism, its error, and a bound no mechanism passes
Answer              what it returns
best_quantiser      the closed form for average squared error
best_window_at      the window with the least error at one value; best_average_window: on average
best_in_family      references made of few shapes; best_unbiased_window: the published unbiased family at its best
limit_of_worst      what errors tend to as epsilon grows, and the shape of the best reference; limit_of_average
extremal_design     reports that tell two distributions apart; regimes, sample_size
split_budget        epsilon divided among parts with the least sum of errors; split_record, direction_split
check_pieces        the published m-piece framework on a global solver (needs pyscipopt)

Whatever a program finds in floats only chooses public parameters: the mechanism has integer weights, its privacy is
checked exactly, and its error is measured from those integers.
"""

from deniable.design.answer import Answer, Published
from deniable.design.asymptotic import LimitShape, limit_of_average, limit_of_worst
from deniable.design.average_window import best_average_window
from deniable.design.choose import design
from deniable.design.direction_split import DirectionSplit, direction_split
from deniable.design.divergences import Divergence
from deniable.design.extremal import ExtremalDesign, extremal_design, measured, regimes
from deniable.design.families import FamilyDesign, best_in_family
from deniable.design.hypotheses import Hypotheses
from deniable.design.pieces_check import PiecesCheck, check_pieces
from deniable.design.point import best_window_at
from deniable.design.problem import DistanceLoss, Prior
from deniable.design.quantiser import best_quantiser, quantiser_error
from deniable.design.sample_size import SampleSize, sample_size
from deniable.design.splits import BudgetSplit, split_budget, split_record
from deniable.design.unbiased_window import UnbiasedWindow, best_unbiased_window

__all__ = [
    "Answer",
    "BudgetSplit",
    "DirectionSplit",
    "DistanceLoss",
    "Divergence",
    "ExtremalDesign",
    "FamilyDesign",
    "Hypotheses",
    "LimitShape",
    "PiecesCheck",
    "Prior",
    "Published",
    "SampleSize",
    "UnbiasedWindow",
    "best_average_window",
    "best_in_family",
    "best_quantiser",
    "best_unbiased_window",
    "best_window_at",
    "check_pieces",
    "design",
    "direction_split",
    "extremal_design",
    "limit_of_average",
    "limit_of_worst",
    "measured",
    "quantiser_error",
    "regimes",
    "sample_size",
    "split_budget",
    "split_record",
]
