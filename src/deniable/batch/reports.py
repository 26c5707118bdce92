"""Many reports of one recipe, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.batch.decoding import decode_many, output_ints
from deniable.batch.frames import unframed
from deniable.batch.packing import outputs_from_ints, pack_reports, unpack_reports
from deniable.core import Channel, Mechanism, Report
from deniable.errors import InvalidParameter


@dataclass(frozen=True, repr=False)
class Reports:
    """The outputs of one recipe for many users.

    `outputs` is an array of unsigned integers, or rows of bytes for unary reports (bit v of a report is
    bit v % 8 of byte v // 8), or a tuple of such arrays for records. A list or a column of whole numbers becomes
    what its recipe needs.
    """

    mechanism: Mechanism
    outputs: Any

    def __post_init__(self) -> None:
        if not isinstance(self.outputs, np.ndarray | tuple):
            object.__setattr__(self, "outputs", _from_column(self.mechanism.channel, unframed(self.outputs)))

    def __len__(self) -> int:
        outputs = self.outputs
        while isinstance(outputs, tuple):
            outputs = outputs[0]
        return len(outputs)

    def __getitem__(self, place: int) -> Report:
        one = _slice(self.outputs, place)
        return Report(self.mechanism.fingerprint, output_ints(self.mechanism.channel, one)[0])

    def ints(self) -> list[int]:
        """Every output as the integer the scalar path would report."""
        return output_ints(self.mechanism.channel, self.outputs)

    def values(self) -> Any:
        """Every output as the value it stands for."""
        return decode_many(self.mechanism, self.outputs)

    def to_bytes(self) -> bytes:
        """One frame of the wire format, bit-packed; the same bytes as deniable.core.wire.encode_reports gives."""
        return pack_reports(self.mechanism, self.outputs)

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Reports:
        """The reports in a frame; anything but a well-formed frame of this recipe is refused."""
        return cls(mechanism, unpack_reports(mechanism, data))

    def __repr__(self) -> str:
        return f"Reports(n={len(self)}, mechanism={self.mechanism!r})"


def _from_column(channel: Channel, outputs: Any) -> Any:
    """A list or a column of outputs as the arrays the samplers give."""
    listed = outputs.tolist() if isinstance(outputs, np.ndarray) else list(outputs)
    if not all(isinstance(output, int) and 0 <= output < channel.outputs for output in listed):
        raise InvalidParameter(f"the outputs must be whole numbers that this recipe can give, 0 to {channel.outputs - 1}")
    return outputs_from_ints(channel, listed)


def _slice(outputs: Any, place: int) -> Any:
    if isinstance(outputs, tuple):
        return tuple(_slice(part, place) for part in outputs)
    if not -len(outputs) <= place < len(outputs):
        raise IndexError("there are not that many reports")
    place %= len(outputs)
    return outputs[place : place + 1]
