"""Local differential privacy, exactly: integer weights, certificates anyone can check, no float near a secret.

>>> import deniable
>>> mechanism = deniable.Window(domain=deniable.Interval(0, 100), epsilon=2)
>>> mechanism.certificate().holds
True
>>> report = mechanism.randomize(42)          # one private report, from the system's randomness
>>> 0 <= mechanism.decode(report.output) <= 100
True

What people answer with   Binary, Categories, Interval, Circle, Rectangle, Record; the others are in deniable.core.domains
How it is hidden          RandomizedResponse, KaryRandomizedResponse, Window, ...; all of them by name: deniable.names()
On a device               Client, from the public recipe of a mechanism
From reports to numbers   deniable.estimators: shares, mean, distribution, quantiles, ...
Which one, at what price  deniable.planning, or `deniable plan` in a terminal
Repeatable simulations    deniable.testing.seeded, for made-up data only
On the way                encode_report, decode_report and their plurals; the rest of deniable.core.wire
What went wrong           DeniableError and, for a value that is not a possible answer, OutOfDomain; all in deniable.errors

Names and packages are loaded on first use, so importing the package costs next to nothing. The repr of a domain, a mechanism,
a certificate or a report is Python that makes an equal one; one that was cut short has a … in it, which is not Python.
"""

from deniable._door import door

__version__ = "0.2.0"
__getattr__, __dir__, __all__ = door(__name__)
