"""The Flower mod and its strategy, message by message. `test_simulation.py` runs these where Flower is installed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr", reason="Flower is not installed: pip install 'deniable[flower]' in an environment of its own")

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAdam, FedAvg
from flwr.supercore.task_identity import TaskIdentity

from deniable.errors import InvalidEpsilon, InvalidParameter
from deniable.studies import LocalPrivacy, PrivateUpdates

App = Callable[[Message, Context], Message]
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1  # messages are made in a run only


def arrays(value: float) -> ArrayRecord:
    return ArrayRecord({"weights": Array(np.full((4, 5), value)), "steps": Array(np.array([3]))})


def asked(number: int = 1, kind: str = "train", value: float = 1.0) -> Message:
    content = RecordDict({"arrays": arrays(value), "config": ConfigRecord({"server-round": number})})
    return Message(content, dst_node_id=7, message_type=kind)


def context() -> Context:
    return Context(run_id=1, node_id=7, node_config={}, state=RecordDict(), run_config={})


def trained(message: Message, _context: Context, change: float = 0.1) -> Message:
    before = message.content["arrays"]["weights"].numpy()
    after = ArrayRecord({"weights": Array(before + change), "steps": Array(np.array([99]))})
    metrics = MetricRecord({"num-examples": 1234, "loss": 0.987})
    return Message(RecordDict({"arrays": after, "metrics": metrics}), reply_to=message)


def privacy(**options: Any) -> LocalPrivacy:
    return LocalPrivacy(**{"epsilon_per_round": 4, "lifetime": 8, "clip": 1, **options})


def updates() -> PrivateUpdates:
    return PrivateUpdates({"weights": np.zeros((4, 5)), "steps": np.array([3])}, epsilon=4, clip=1)


def test_nothing_but_the_report_leaves_a_client() -> None:
    reply = privacy()(asked(), context(), trained)
    assert not reply.has_error()
    assert list(reply.content) == ["deniable"]
    assert list(reply.content["deniable"]) == ["report"]
    report = reply.content["deniable"]["report"]
    assert updates().read(report).recipe == updates().mechanism.fingerprint


def reported(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The updates that are reported from now on."""
    seen: list[Any] = []
    real = PrivateUpdates.report

    def watched(self: PrivateUpdates, before: Any, after: Any) -> bytes:
        seen.append(self.flatten(after) - self.flatten(before))
        return real(self, before, after)

    monkeypatch.setattr(PrivateUpdates, "report", watched)
    return seen


def test_the_report_is_about_the_update_and_not_about_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = reported(monkeypatch)
    privacy()(asked(value=50.0), context(), trained)
    assert np.allclose(seen, 0.1)
    assert seen[0].size == 20


def test_a_client_without_budget_says_so_before_it_trains_and_sends_nothing() -> None:
    mod, own, calls = privacy(lifetime=9), context(), []

    def counted(message: Message, given: Context) -> Message:
        calls.append(1)
        return trained(message, given)

    replies = [mod(asked(number), own, counted) for number in (1, 2, 3)]
    assert [reply.has_error() for reply in replies] == [False, False, True]
    assert replies[2].error.reason == "no budget left: a round costs epsilon=4, and of the lifetime 9 less is left"
    assert len(calls) == 2
    assert not mod(asked(1), context(), trained).has_error()  # another client has its own


def test_a_ledger_counts_across_runs_and_answers_a_round_once(tmp_path: Path) -> None:
    mod = privacy(ledger=tmp_path / "ledger.db")
    first = mod(asked(1), context(), trained).content["deniable"]["report"]
    again = pickle.loads(pickle.dumps(mod))(asked(1), context(), trained)  # a restart: the server asks for the round once more
    assert again.content["deniable"]["report"] == first
    assert not mod(asked(2), context(), trained).has_error()
    late = mod(asked(1), context(), trained)
    assert "no budget left" in late.error.reason
    assert "no budget left" in privacy(ledger=lambda _context: tmp_path / "ledger.db")(asked(3), context(), trained).error.reason
    larger = privacy(ledger=tmp_path / "ledger.db", lifetime=40)
    assert "already answered" in larger(asked(1), context(), trained).error.reason


@pytest.mark.parametrize("kind", ["evaluate", "query", "query.anything"])
def test_only_training_is_answered(kind: str) -> None:
    def told(message: Message, _context: Context) -> Message:
        return Message(RecordDict({"metrics": MetricRecord({"loss": 0.987})}), reply_to=message)

    assert "only training is protected" in privacy()(asked(kind=kind), context(), told).error.reason
    assert not privacy(unprotected_evaluation=True)(asked(kind=kind), context(), told).has_error()


def raises(_message: Message, _context: Context) -> Message:
    raise ValueError("patient 4711 has no label")


def fails(message: Message, _context: Context) -> Message:
    return Message(Error(code=1, reason="patient 4711 has no label"), reply_to=message)


def forgets(message: Message, _context: Context) -> Message:
    return Message(RecordDict({"metrics": MetricRecord({"age": 4711})}), reply_to=message)


def reshapes(message: Message, _context: Context) -> Message:
    return Message(RecordDict({"arrays": ArrayRecord({"weights": Array(np.full(3, 4711.0))})}), reply_to=message)


@pytest.mark.parametrize("app", [raises, fails])
def test_an_app_that_fails_is_reported_as_no_change(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether training works may depend on the data: the server must not see it."""
    seen = reported(monkeypatch)
    reply, usual = privacy()(asked(), context(), app), privacy()(asked(), context(), trained)
    assert not reply.has_error()
    assert seen[0].tolist() == [0.0] * 20
    assert len(reply.content["deniable"]["report"]) == len(usual.content["deniable"]["report"])
    assert list(reply.content) == list(usual.content)
    assert "4711" not in caplog.text


@pytest.mark.parametrize("app", [forgets, reshapes])
def test_what_an_app_says_when_it_fails_stays_on_the_device(app: App, caplog: pytest.LogCaptureFixture) -> None:
    reply = privacy()(asked(), context(), app)
    assert reply.has_error()
    assert "4711" not in str(reply.error.reason)
    assert "4711" not in caplog.text


def replies_of(count: int, change: float = 0.1, **options: Any) -> list[Message]:
    mod = privacy(**options)
    return [mod(asked(), context(), lambda message, own: trained(message, own, change)) for _ in range(count)]


def begun(inner: Any) -> Any:
    strategy = privacy().strategy(inner)
    strategy._model = {"weights": np.ones((4, 5)), "steps": np.array([3])}
    return strategy


def test_the_strategy_moves_the_model_by_the_estimated_mean() -> None:
    """The update is 20 times 0.1, of length 0.447. Chance of a false alarm: 1e-7, by the estimate's distance."""
    strategy = begun(FedAvg())
    record, metrics = strategy.aggregate_train(1, replies_of(400))
    (done,) = strategy.rounds
    assert (done.reports, done.out_of_budget, done.failed) == (400, 0, 0)
    assert done.report_bytes == 400 * 36 == metrics["bytes"]
    assert np.allclose(record["weights"].numpy(), 1 + done.estimate.value.reshape(4, 5))
    assert record["steps"].numpy().tolist() == [3]  # the client said 99
    off = np.linalg.norm(record["weights"].numpy() - 1.1)
    assert off < done.estimate.distance(1 - 1e-7) < 0.447
    assert metrics["distance-95"] == done.estimate.distance()
    assert "num-examples" not in metrics
    assert "loss" not in metrics


def test_other_strategies_are_given_the_same_mean() -> None:
    strategy = begun(FedAdam(eta=0.1))
    strategy.inner.current_arrays = {"weights": np.ones((4, 5)), "steps": np.array([3.0])}
    record, _metrics = strategy.aggregate_train(1, replies_of(5))
    moved = np.sign(record["weights"].numpy() - 1)
    assert (moved == np.sign(strategy.rounds[0].estimate.value.reshape(4, 5))).all()


def test_replies_that_are_not_reports_are_counted_and_left_out() -> None:
    strategy, good = begun(FedAvg()), replies_of(2)
    other = replies_of(1, epsilon_per_round=2)  # another level: another recipe
    spoilt = Message(RecordDict({"deniable": ConfigRecord({"report": b"nonsense"})}), reply_to=asked())
    spent = Message(Error(code=4801, reason="no budget left"), reply_to=asked())
    raw = trained(asked(), context())  # a client without the mod
    _record, metrics = strategy.aggregate_train(1, [*good, *other, spoilt, spent, raw, forgotten_reply()])
    assert (metrics["reports"], metrics["out-of-budget"], metrics["failed"]) == (2, 1, 4)
    record, metrics = strategy.aggregate_train(2, [spent])
    assert record is None
    assert dict(metrics) == {"reports": 0, "out-of-budget": 1, "failed": 0, "bytes": 0}


def forgotten_reply() -> Message:
    return privacy()(asked(), context(), forgets)


def test_clients_are_not_asked_to_evaluate() -> None:
    assert list(privacy().strategy(FedAvg()).configure_evaluate(1, arrays(0), ConfigRecord(), None)) == []


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(InvalidEpsilon, match="lifetime must be at least epsilon_per_round=4"):
        privacy(lifetime=3)
    with pytest.raises(InvalidParameter, match="clip"):
        privacy(clip=0)
    with pytest.raises(InvalidParameter, match="FedAvg"):
        privacy().strategy("FedAvg")
