"""Is it as private as it says? Checks of integers, tests of draws, and attacks.

verify                  a compiled channel against its claim, by a verifier that shares nothing with the samplers
audit                   any function, command or service: a lower bound of its epsilon, from draws
Vectorised, Scalar, Command, HttpClient    what can be audited
audit_mechanism         the same for this package's own samplers
independence_test       reused noise, reused seeds, serial correlation
coordinate_test         every coordinate of a vector report, the last one too
float_support_test      outputs that only one input can give
memo_test               "permanent" answers that are not
timing_test             times that depend on the value
reconstruct, attribute_inference        what repeated reports, or one report, give away
count_gain, mean_gain, worst_report    how far fake users can push an estimate
plausibility_test       could honest users have sent these reports?
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.auditing.bounds import samples_for, visible_violation
    from deniable.auditing.coordinates import coordinate_test
    from deniable.auditing.float_support import float_support_test
    from deniable.auditing.independence import independence_test
    from deniable.auditing.inference import attribute_inference
    from deniable.auditing.memo import memo_test
    from deniable.auditing.own_mechanisms import audit_mechanism
    from deniable.auditing.plausibility import plausibility_test
    from deniable.auditing.poisoning import count_gain, mean_gain, worst_report
    from deniable.auditing.reconstruction import reconstruct
    from deniable.auditing.sampled import audit
    from deniable.auditing.targets import Command, HttpClient, Scalar, Vectorised
    from deniable.auditing.timing import timing_test
    from deniable.auditing.verdict import Audit
    from deniable.auditing.verifier import verify

# Loaded on first use: the verifier must run with the standard library alone.
_HOMES = {
    "bounds": ("samples_for", "visible_violation"),
    "coordinates": ("coordinate_test",),
    "float_support": ("float_support_test",),
    "independence": ("independence_test",),
    "inference": ("attribute_inference",),
    "memo": ("memo_test",),
    "own_mechanisms": ("audit_mechanism",),
    "plausibility": ("plausibility_test",),
    "poisoning": ("count_gain", "mean_gain", "worst_report"),
    "reconstruction": ("reconstruct",),
    "sampled": ("audit",),
    "targets": ("Command", "HttpClient", "Scalar", "Vectorised"),
    "timing": ("timing_test",),
    "verdict": ("Audit",),
    "verifier": ("verify",),
}
_HOME_OF = {name: home for home, found in _HOMES.items() for name in found}

__all__ = [
    "Audit",
    "Command",
    "HttpClient",
    "Scalar",
    "Vectorised",
    "attribute_inference",
    "audit",
    "audit_mechanism",
    "coordinate_test",
    "count_gain",
    "float_support_test",
    "independence_test",
    "mean_gain",
    "memo_test",
    "plausibility_test",
    "reconstruct",
    "samples_for",
    "timing_test",
    "verify",
    "visible_violation",
    "worst_report",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its file."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'deniable.auditing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"deniable.auditing.{_HOME_OF[name]}"), name)
