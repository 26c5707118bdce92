"""What the first submission needs is loaded before anybody is told that the collector is ready."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from deniable.batch import accumulator_for, accumulator_from_bytes
from deniable.collector.kept import together
from deniable.collector.store import Arrival, Store
from deniable.collector.submitting import batch_of
from deniable.core import Mechanism, Report, decode_report, encode_report
from deniable.errors import DeniableError
from deniable.surveys import Survey, encode_batch

MOST_SURVEYS = 32
"""Surveys that are tried out at the start; others find their kernels loaded unless nobody else uses them."""


def warm_all(store: Store) -> None:
    """Try out every kind of mechanism among the open surveys: what is compiled is loaded when it is first used."""
    seen: set[tuple[str, ...]] = set()
    for name in sorted(name for name, is_open in store.open_hashes().items() if is_open)[:MOST_SURVEYS]:
        survey = store.survey(name)
        if survey is not None and _kinds(survey.mechanism) not in seen:
            seen.add(_kinds(survey.mechanism))
            warm(survey)


def warm(survey: Survey) -> None:
    """Decode and count two reports that nobody sent, one alone and one in a batch, in memory only."""
    mechanism = survey.mechanism
    survey = replace(survey, admission=None, shuffle=None)  # nobody's token is spent on this
    with suppress(DeniableError):  # then a real one is refused, or says why it cannot be counted
        report = decode_report(mechanism, encode_report(mechanism, Report(mechanism.fingerprint, 0)))
        arrivals = [Arrival(survey, "", bytes(16), [report], 1), batch_of(survey, encode_batch(survey, [report]), "")]
        together(arrivals)
        sums = accumulator_for(mechanism)
        for arrival in arrivals:
            sums.add(arrival.reports)
        accumulator_from_bytes(mechanism, sums.to_bytes())


def _kinds(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the mechanism and its parts, and how large their reports are: kernels differ by both."""
    parts = getattr(mechanism, "parts", None) or {}
    inner = [kind for part in parts.values() for kind in _kinds(part)]
    return (f"{mechanism.name} {mechanism.channel.outputs.bit_length()}", *inner)
