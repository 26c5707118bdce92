"""Sums of reports: everything an estimator needs, in constant memory, and mergeable in any order.

accumulator_for     an empty accumulator of a mechanism
Accumulator         add, merge, to_bytes, from_bytes
Counts              how often each output was reported
BitCounts           how often each bit was 1
SupportCounts       how many hashed reports support each value
Joined              one accumulator per field of a record
Sampled             the same when every report answers one field
PairCounts          how often two fields are supported together
"""
