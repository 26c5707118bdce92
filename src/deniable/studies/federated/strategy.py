"""The server's side of private training with Flower: reports in, the mean update out, with its error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from deniable.core import Epsilon, Number, Report
from deniable.errors import InvalidParameter, WireError
from deniable.estimators import VectorMean
from deniable.studies.federated.updates import PrivateUpdates
from deniable.studies.federated.wire import OUT_OF_BUDGET, RECORD, REPORT


@dataclass(frozen=True)
class PrivateRound:
    """What one round brought. `estimate` has the mean update and its intervals; None when nobody reported."""

    number: int
    reports: int
    out_of_budget: int
    failed: int
    report_bytes: int
    estimate: VectorMean | None

    def metrics(self) -> MetricRecord:
        """For Flower's log and history."""
        counts = {"reports": self.reports, "out-of-budget": self.out_of_budget, "failed": self.failed, "bytes": self.report_bytes}
        if self.estimate is None:
            return MetricRecord(counts)
        error = float(self.estimate.standard_error.flat[0])
        length = float(np.linalg.norm(self.estimate.value))
        return MetricRecord({**counts, "standard-error": error, "update-length": length, "distance-95": self.estimate.distance()})


class PrivateStrategy(Strategy):  # type: ignore[misc]
    """A strategy around an averaging one (FedAvg, FedAvgM, FedAdam, …), which gets the model moved by the estimated mean update.

    Every report counts once: how many examples a client has is private. `rounds` keeps what each round brought, with its intervals.
    Made by `LocalPrivacy.strategy`.
    """

    def __init__(self, inner: Any, *, epsilon: Epsilon, clip: Number, unprotected_evaluation: bool = False) -> None:
        if not isinstance(inner, Strategy):
            raise InvalidParameter("the inner strategy must be one of flwr.serverapp.strategy, for example FedAvg()")
        self.inner, self.epsilon, self.clip = inner, epsilon, clip
        self.unprotected_evaluation = unprotected_evaluation
        self.rounds: list[PrivateRound] = []
        self._model: dict[str, Any] = {}

    def summary(self) -> None:
        """What Flower logs at the start."""
        log(INFO, "\t├──> Local privacy: epsilon %s a round, updates clipped to %s", self.epsilon, self.clip)
        self.inner.summary()

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """As the inner strategy does it; the global model is kept, because reports are about differences from it."""
        self._model = {name: array.numpy() for name, array in arrays.items()}
        messages: Iterable[Message] = self.inner.configure_train(server_round, arrays, config, grid)
        return messages

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The model after this round, by the inner strategy, and the round's numbers."""
        updates = PrivateUpdates(self._model, epsilon=self.epsilon, clip=self.clip)
        done, moved = self._read(server_round, updates, replies)
        self.rounds.append(done)
        log(INFO, "aggregate_train: %s reports, %s without budget, %s failed", done.reports, done.out_of_budget, done.failed)
        if moved is None:
            return None, done.metrics()
        record = ArrayRecord({name: Array(array) for name, array in moved.items()})
        weight = MetricRecord({getattr(self.inner, "weighted_by_key", "num-examples"): float(done.reports)})
        content = RecordDict({getattr(self.inner, "arrayrecord_key", "arrays"): record, "metrics": weight})
        everyone = Message(content, dst_node_id=0, message_type=MessageType.TRAIN)
        return self.inner.aggregate_train(server_round, [everyone])[0], done.metrics()

    def _read(self, number: int, updates: PrivateUpdates, replies: Iterable[Message]) -> tuple[PrivateRound, dict[str, Any] | None]:
        reports: list[Report] = []
        spent = failed = size = 0
        for reply in replies:
            if reply.has_error():
                spent += reply.error.code == OUT_OF_BUDGET
                failed += reply.error.code != OUT_OF_BUDGET
                continue
            data = _report(reply)
            try:
                reports.append(updates.read(data))
                size += len(data)
            except WireError as error:
                failed += 1
                log(WARNING, "a reply was not a report of this round: %s", error)
        estimate = updates.mean(reports) if reports else None
        moved = None if estimate is None else updates.moved(self._model, estimate)
        return PrivateRound(number, len(reports), spent, failed, size, estimate), moved

    def configure_evaluate(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """Nothing, unless evaluation on clients was allowed: its metrics are not protected. Use `evaluate_fn` of `start`."""
        if not self.unprotected_evaluation:
            return []
        messages: Iterable[Message] = self.inner.configure_evaluate(server_round, arrays, config, grid)
        return messages

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """As the inner strategy does it."""
        return self.inner.aggregate_evaluate(server_round, replies) if self.unprotected_evaluation else None


def _report(reply: Message) -> bytes:
    record = reply.content.config_records.get(RECORD)
    data = None if record is None else record.get(REPORT)
    return data if isinstance(data, bytes) else b""
