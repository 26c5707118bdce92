"""Local privacy for Flower apps: a mod that lets nothing but private reports leave a client."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from logging import ERROR, WARNING
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Context, Error, Message, RecordDict
from flwr.common.logger import log

from deniable.core import Epsilon, EpsilonLike, Number, as_fraction, show_fraction
from deniable.errors import AlreadyAnswered, BudgetSpent, InvalidEpsilon, InvalidParameter
from deniable.studies.federated.strategy import PrivateStrategy
from deniable.studies.federated.updates import PrivateUpdates
from deniable.studies.federated.wire import ALREADY_ANSWERED, APP_FAILED, NOT_PROTECTED, OUT_OF_BUDGET, RECORD, REPORT
from deniable.surveys import Ledger

STATE, SPENT = "deniable.budget", "spent"
"""Where Flower's context keeps what a client has spent when there is no ledger file."""


class LocalPrivacy:
    """A Flower mod: the client's update leaves as one private report, and nothing else leaves.

    The update, what training made of the global model minus that model, is shortened to the length `clip` and reported by
    `nearest-codes` at `epsilon_per_round`. Metrics of training (also the number of examples) are private and are dropped; messages
    other than training are refused, unless `unprotected_evaluation=True`. An app that fails is reported as no change, because
    whether it fails may depend on the data. A client asked once more after `lifetime` is spent says so and sends nothing.

    `ledger` is a file on the device that counts what was spent, across runs and restarts (or a function of Flower's context that
    names it). Without it, Flower's context counts, which a new run forgets: that is right for simulations only.

        app = ClientApp(mods=[LocalPrivacy(epsilon_per_round=4, lifetime=16, clip=1)])
        strategy = LocalPrivacy(epsilon_per_round=4, lifetime=16, clip=1).strategy(FedAvg())

    Put it first in `mods`: what comes after it sees the update as it is.
    """

    def __init__(
        self,
        *,
        epsilon_per_round: EpsilonLike,
        lifetime: Number,
        clip: Number,
        ledger: str | os.PathLike[str] | Callable[[Context], str | os.PathLike[str]] | None = None,
        unprotected_evaluation: bool = False,
    ) -> None:
        self.epsilon = Epsilon(epsilon_per_round)
        whole, length = as_fraction(lifetime), as_fraction(clip)
        if whole is None or whole < self.epsilon.exact:
            raise InvalidEpsilon(
                f"lifetime must be at least epsilon_per_round={self.epsilon}: it is the most that all rounds of a person may cost"
            )
        if length is None or length <= 0:
            raise InvalidParameter("clip must be a positive number: the longest update that is reported at its own length")
        self.lifetime, self.clip = whole, length
        self.ledger, self.unprotected_evaluation = ledger, unprotected_evaluation

    def strategy(self, inner: Any) -> PrivateStrategy:
        """The server's side: any averaging strategy of Flower, fed with the estimated mean update."""
        return PrivateStrategy(inner, epsilon=self.epsilon, clip=self.clip, unprotected_evaluation=self.unprotected_evaluation)

    def __call__(self, message: Message, context: Context, call_next: Callable[[Message, Context], Message]) -> Message:
        """Answer one message of the server."""
        if message.metadata.message_type.partition(".")[0] != "train":
            if self.unprotected_evaluation:
                return call_next(message, context)
            return _refusal(message, NOT_PROTECTED, "only training is protected by LocalPrivacy: evaluate on the server")
        if len(message.content.array_records) != 1:
            return _refusal(message, APP_FAILED, "LocalPrivacy needs exactly one ArrayRecord, the global model")
        (before,) = message.content.array_records.values()
        book = _Book(self, message, context)
        if not book.affords():  # before training: whether a client answers does not depend on its data
            return _refusal(message, OUT_OF_BUDGET, self._spent_words())
        model = {name: array.numpy() for name, array in before.items()}
        updates = PrivateUpdates(model, epsilon=self.epsilon, clip=self.clip)
        after = _trained(message, context, call_next, model)
        if isinstance(after, str):
            return _refusal(message, APP_FAILED, after)
        try:
            report = book.draw(updates.mechanism.fingerprint, lambda: updates.report(model, after))
        except AlreadyAnswered:
            return _refusal(message, ALREADY_ANSWERED, "this round was already answered; a second report would cost privacy again")
        except BudgetSpent:
            return _refusal(message, OUT_OF_BUDGET, self._spent_words())
        return Message(RecordDict({RECORD: ConfigRecord({REPORT: report})}), reply_to=message)

    def _spent_words(self) -> str:
        return (
            f"no budget left: a round costs epsilon={self.epsilon}, and of the lifetime {show_fraction(self.lifetime)} less is left"
        )


class _Book:
    """What one client has spent: in a ledger file, or in Flower's context."""

    def __init__(self, privacy: LocalPrivacy, message: Message, context: Context) -> None:
        self.cost, self.lifetime, self.context = privacy.epsilon.exact, privacy.lifetime, context
        asked = next((record.get("server-round") for record in message.content.config_records.values()), None)
        self.period = f"{message.metadata.run_id}/{message.metadata.message_id if asked is None else asked}"
        path = privacy.ledger(context) if callable(privacy.ledger) else privacy.ledger
        self.ledger = None if path is None else Ledger(Path(path), limit=self.lifetime)
        if path is None:
            _warn_once()

    def affords(self) -> bool:
        """Is there enough for one more round, or is the report of this round drawn already?"""
        if self.ledger is None:
            return self._spent() + self.cost <= self.lifetime
        return self.cost <= self.ledger.left() or any(kept.period == self.period for kept in self.ledger.pending())

    def draw(self, fingerprint: str, make: Callable[[], bytes]) -> bytes:
        """The report of this round; its cost is written before it is returned."""
        if self.ledger is None:
            self.context.state[STATE] = ConfigRecord({SPENT: str(self._spent() + self.cost)})
            return make()
        survey = f"flower/{fingerprint}"
        for kept in self.ledger.pending(survey):
            if kept.period != self.period:  # the server has gone on to another round
                self.ledger.settle(kept)
        return self.ledger.draw(survey, self.period, epsilon=self.cost, budget=self.lifetime, make=make).report

    def _spent(self) -> Fraction:
        state = self.context.state
        return Fraction(str(state[STATE][SPENT])) if STATE in state else Fraction(0)


def _trained(
    message: Message, context: Context, call_next: Callable[[Message, Context], Message], model: dict[str, Any]
) -> dict[str, Any] | str:
    """The model after training, or why there is none. What the app itself says may hold private values and stays on the device.

    An app that fails leaves the model as it was: whether training works may depend on the data, so nobody may see it.
    """
    try:
        reply = call_next(message, context)
    except Exception as error:  # whatever the app raises, its words are not sent
        log(
            ERROR,
            "the app failed under LocalPrivacy: %s (its message is not logged, it may hold private values)",
            type(error).__name__,
        )
        return model
    if reply.has_error():
        log(ERROR, "the app answered with an error under LocalPrivacy (its message is not logged, it may hold private values)")
        return model
    if len(reply.content.array_records) != 1:
        return "LocalPrivacy needs exactly one ArrayRecord in the reply: the trained model"
    (record,) = reply.content.array_records.values()
    after = {name: array.numpy() for name, array in record.items()}
    if {name: array.shape for name, array in after.items()} != {name: array.shape for name, array in model.items()}:
        return "the trained model must have the arrays of the global one, by name and shape"
    return {name: np.asarray(after[name], model[name].dtype) for name in model}


@cache
def _warn_once() -> None:
    log(WARNING, "LocalPrivacy has no ledger file: what is spent is forgotten after this run. On devices, give ledger=PATH")


def _refusal(message: Message, code: int, reason: str) -> Message:
    return Message(Error(code=code, reason=reason), reply_to=message)
