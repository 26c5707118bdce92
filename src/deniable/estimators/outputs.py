"""Reports of any origin as the arrays the estimators read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.batch import Reports, decode_many
from deniable.channels import Bits, Channel, TwoLevel
from deniable.channels.subsets import Subsets
from deniable.errors import InvalidParameter, WrongRecipe
from deniable.mechanisms.base import Mechanism
from deniable.reports import Report


def outputs_of(mechanism: Mechanism, reports: Any) -> NDArray[Any]:
    """The outputs of a batch or of a sequence of reports: integers, or rows of bytes for sets of bits."""
    if isinstance(reports, Reports):
        if reports.mechanism.fingerprint != mechanism.fingerprint:
            raise WrongRecipe("the reports were made by another recipe")
        outputs: NDArray[Any] = reports.outputs
        return outputs
    found = []
    for report in reports:
        if not isinstance(report, Report):
            raise InvalidParameter("reports must be a batch or a sequence of Report")
        if report.recipe != mechanism.fingerprint:
            raise WrongRecipe("the reports were made by another recipe")
        found.append(report.output)
    if _is_rows(mechanism.channel):
        width = (mechanism.channel.inputs + 7) // 8
        joined = b"".join(output.to_bytes(width, "little") for output in found)
        return np.frombuffer(joined, np.uint8).reshape(-1, width)
    return np.array(found, dtype=np.uint64 if mechanism.channel.outputs <= 1 << 64 else object)


def values_of(mechanism: Mechanism, reports: Any) -> NDArray[np.float64]:
    """The decoded numbers of a batch or of a sequence of reports."""
    return np.asarray(decode_many(mechanism, outputs_of(mechanism, reports)), dtype=np.float64)


def _is_rows(channel: Channel) -> bool:
    return isinstance(channel, Bits) or (isinstance(channel, TwoLevel) and isinstance(channel.sets, Subsets))
