"""Every error deniable raises.

DeniableError
├── InvalidParameter        a public parameter breaks its rule (also a ValueError)
│   ├── InvalidEpsilon      epsilon is not a positive, finite, reasonable number
│   └── InvalidDomain       a domain cannot be built as asked
├── OutOfDomain             a private value does not belong to the domain (also a ValueError)
├── UnknownMechanism        no mechanism has this name (also a LookupError)
├── NotSupported            the thing asked for does not exist for this mechanism, and why
├── WireError               bytes or JSON that are not a well-formed report (also a ValueError)
│   ├── Malformed           wrong length, wrong shape, padding that is not zero, output out of range
│   ├── UnknownVersion      a format version this release does not read
│   └── WrongRecipe         a report or sum that belongs to another recipe
├── ProtocolError           a protocol between users stopped; nothing of its result was kept
│   ├── PeerLost            the other side disconnected or was silent for too long
│   ├── BadMessage          a message of the wrong kind, length or seal
│   ├── Replayed            an old message was sent again, or one out of order
│   └── BrokenCommitment    a revealed or dealt value is not the one committed to
├── BudgetSpent             the device's ledger refuses: the answer would cost more than is left
│   └── AlreadyAnswered     the question was answered in this window
├── NotStored               a device's file cannot be written now (full, locked, read-only); nothing was drawn or spent
├── NotDelivered            a report could not be handed over; it is kept and sent later, or was refused for good
│   └── NotAdmitted         the collector takes reports only with a token, and got none or another one; the report is kept
└── MissingPackage          an optional package is needed; the message says which (also an ImportError)

A message names the parameter, the rule and the next step. It never shows a private value.
"""

from __future__ import annotations


class DeniableError(Exception):
    """The root of everything this package raises on purpose."""


class InvalidParameter(DeniableError, ValueError):
    """A public parameter breaks its rule."""


class InvalidEpsilon(InvalidParameter):
    """Epsilon is not a positive, finite, reasonable number."""


class InvalidDomain(InvalidParameter):
    """A domain cannot be built as asked."""


class OutOfDomain(DeniableError, ValueError):
    """A private value does not belong to the domain. The value itself is never in the message."""


class UnknownMechanism(DeniableError, LookupError):
    """No mechanism is registered under this name."""


class NotSupported(DeniableError):
    """The thing asked for does not exist for this mechanism."""


class WireError(DeniableError, ValueError):
    """Bytes or JSON that are not a well-formed report."""


class Malformed(WireError):
    """Wrong length, wrong shape, padding that is not zero, or an output out of range."""


class UnknownVersion(WireError):
    """A format version this release does not read."""


class WrongRecipe(WireError):
    """A report or a sum that belongs to another recipe."""


class MissingPackage(DeniableError, ImportError):
    """An optional package is needed for this."""


class ProtocolError(DeniableError):
    """A protocol between users stopped. Nothing of its result was kept."""


class PeerLost(ProtocolError):
    """The other side disconnected or was silent for too long."""


class BadMessage(ProtocolError):
    """A message of the wrong kind, length or seal."""


class Replayed(ProtocolError):
    """An old message was sent again, or one out of order."""


class BrokenCommitment(ProtocolError):
    """A revealed or dealt value is not the one committed to."""


class BudgetSpent(DeniableError):
    """The answer would cost more privacy than the ledger has left."""


class AlreadyAnswered(BudgetSpent):
    """The question was answered in this window; a second draw would cost privacy again."""


class NotStored(DeniableError):
    """A device's own file cannot be written or read now. Nothing was drawn, spent or sent."""


class NotDelivered(DeniableError):
    """A report could not be handed over to the collector."""


class NotAdmitted(NotDelivered):
    """The collector takes reports only with a token, and got none or another one."""
