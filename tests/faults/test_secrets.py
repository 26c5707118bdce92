"""Secrets in errors, state, logs and reports are caught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tests.faults.planted import Planted, assert_caught

from deniable.core import SYSTEM, Coins, Report
from deniable.errors import OutOfDomain


class ShowsTheValue(Planted):
    def encode(self, value: Any) -> int:
        if not isinstance(value, int):
            raise OutOfDomain(f"the value {value!r} is not a category")
        return super().encode(value)


class ShowsTheCause(Planted):
    def encode(self, value: Any) -> int:
        try:
            return super().encode(["a", "b", "c", "d", "e"].index(value) if isinstance(value, str) else value)
        except ValueError as error:
            if isinstance(error, OutOfDomain):
                raise
            raise OutOfDomain("the value is not a category") from error


@pytest.mark.parametrize("kind", [ShowsTheValue, ShowsTheCause])
def test_a_secret_in_an_error_or_its_cause_is_caught(kind: type[Planted]) -> None:
    assert_caught(kind(), "check_errors_hide_the_value")


class WrongError(Planted):
    def encode(self, value: Any) -> int:
        index: int = [0, 1, 2, 3, 4][value]
        return index


def test_a_bad_value_that_gives_another_error_or_none_is_caught() -> None:
    assert_caught(WrongError(), "check_refuses_values_outside")


class RemembersTheValue(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        object.__setattr__(self, "_last", value)
        return super().randomize(value, coins)


class ShowsTheLastValue(RemembersTheValue):
    def __repr__(self) -> str:
        return f"ShowsTheLastValue({self.__dict__.get('_last')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (ShowsTheLastValue, ())


@pytest.mark.parametrize("kind", [RemembersTheValue, ShowsTheLastValue])
def test_a_secret_kept_in_the_state_or_the_repr_is_caught(kind: type[Planted]) -> None:
    assert_caught(kind(), "check_randomizing_leaves_no_trace")


class Logs(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        import logging

        logging.getLogger("deniable").debug("randomizing")
        return super().randomize(value, coins)


def test_logging_while_randomizing_is_caught() -> None:
    assert_caught(Logs(), "check_randomizing_leaves_no_trace")


@dataclass(frozen=True, slots=True)
class TellingReport(Report):
    secret: int = 0


class TellingReports(Planted):
    def randomize(self, value: Any, coins: Coins = SYSTEM) -> Report:
        sound = super().randomize(value, coins)
        return TellingReport(sound.recipe, sound.output, self.encode(value))


def test_a_report_that_holds_more_than_its_output_is_caught() -> None:
    assert_caught(TellingReports(), "check_reports_hold_the_output_only")
