"""Arrays of values to arrays of reports, at the speed of the random generator, by the scalar law.

encode_many     values -> channel inputs, with exactly the indices the scalar path gives
draw_many       channel inputs -> outputs, by compiled kernels
decode_many     outputs -> values
randomize_many  all of it: values -> Reports

accumulator_for, Accumulator    sums of reports: everything an estimator needs, in constant memory, mergeable in any order
read_reports                    files and frames of reports to sums, whatever their format and size
Local, Spark, engine_by_name    the same sums, bit for bit, by a few processes or a cluster
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
