"""Sums of reports: everything an estimator needs, in constant memory, and mergeable in any order.

accumulator_for     an empty accumulator of a mechanism
Accumulator         add, merge, to_bytes, from_bytes
Counts              how often each output was reported
BitCounts           how often each bit was 1
SupportCounts       how many hashed reports support each value
Joined              one accumulator per field of a record
"""

from deniable.accumulators.base import Accumulator
from deniable.accumulators.choose import accumulator_for, accumulator_from_bytes
from deniable.accumulators.counts import BitCounts, Counts, SupportCounts
from deniable.accumulators.joined import Joined

__all__ = [
    "Accumulator",
    "BitCounts",
    "Counts",
    "Joined",
    "SupportCounts",
    "accumulator_for",
    "accumulator_from_bytes",
]
