"""What a device needs: from a private value to the bytes of a report. Standard library only.

Epsilon, as_fraction, exp_floor, ...        exact numbers: epsilon is a rational, e**epsilon lies between two
SYSTEM, Coins                               uniform integers below n, from the operating system's generator; there is no seed
Domain, Categories, Interval, Circle, ...   what a private value may be: checked, turned into an index, read back
Channel, TwoLevel, Table, Bits, ...         a randomised map from an index to an output, with integer weights
Mechanism, Certificate                      a frozen public recipe, and the inequality between integers that is its privacy
make_mechanism, mechanism_class, names      every mechanism by its name; each has a file of its own
Report, fingerprint                         what leaves the device: one output, tied to its recipe
encode_report, decode_report, parse_json    reports as bytes and as JSON: versioned, strict, one encoding for one report

A name is loaded when it is first asked for: a first report must not wait for what it does not use.
"""

from deniable._door import door

__getattr__, __dir__, __all__ = door(__name__)
