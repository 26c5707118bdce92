"""Arrays of values to arrays of reports, at the speed of the random generator, by the scalar law.

encode_many     values -> channel inputs, with exactly the indices the scalar path gives
draw_many       channel inputs -> outputs, by compiled kernels
decode_many     outputs -> values
randomize_many  all of it: values -> Reports
"""

from deniable.batch.decoding import decode_many, output_ints
from deniable.batch.encoding import encode_many
from deniable.batch.keystream import Keystream, SystemKeystream
from deniable.batch.randomize import draw_many, randomize_many
from deniable.batch.reports import Reports

__all__ = [
    "Keystream",
    "Reports",
    "SystemKeystream",
    "decode_many",
    "draw_many",
    "encode_many",
    "output_ints",
    "randomize_many",
]
