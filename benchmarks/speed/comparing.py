"""Everyone does the same work in turns, several times: the median of ours, the best of the others; seconds per user."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from speed.conversation import Answer, Conversation, conversations
from speed.environments import NAIVE, ONE_CORE, OTHERS, OURS, Peer
from speed.tasks import EPSILON, Task, both_ways

LEAST_SECONDS = 0.1
"""A peer gets more and more users until its work takes so long; fewer are not timed well."""
WELL_TIMED = 0.02
"""Seconds from which on a number of users can be a peer's favourite."""
FEWEST = 256
QUIET = 0.25
"""Cores that other processes may use during a peer's turn; a turn beside more than that is taken again."""
PATIENCE = 4
"""So many times the wanted turns are tried before a peer's turns count although the machine was busy."""
CHECKED_USERS, CHECKS = 400, 64
Progress = Callable[[str], None]


def ask(one: Conversation, task: Task, users: int, do: str = "", **more: Any) -> Answer:
    """Put a task to one package."""
    return one.ask(do=do or task.do, mechanism=task.mechanism, n=users, k=task.k, epsilon=EPSILON, **more)


def favourite(one: Conversation, task: Task, least: float) -> tuple[int, Answer]:
    """The number of users with which the package is fastest per user, and its last answer.

    The first question is not timed: it may compile.
    """
    users = FEWEST
    ask(one, task, users)
    tried: dict[int, float] = {}
    while True:
        answer = ask(one, task, users)
        if "seconds" not in answer:
            return users, answer
        tried[users] = answer["seconds"]
        if users >= task.users or answer["seconds"] >= least:
            well_timed = {n: seconds / n for n, seconds in tried.items() if seconds >= min(WELL_TIMED, answer["seconds"])}
            return min(well_timed, key=lambda n: well_timed[n]), answer
        users = min(4 * users, task.users)


def compare(task: Task, parties: list[Conversation], repeats: int, least: float = LEAST_SECONDS) -> dict[str, Any]:
    """One row of one run. Ours is the median of its turns, a peer the fastest of its turns on an idle machine."""
    plan: list[tuple[Conversation, int]] = []
    row: dict[str, Any] = {"task": task.key, "label": task.label, "do": task.do, "packages": {}}
    for one in parties:
        ours = one.peer in (OURS, ONE_CORE)
        users, answer = (task.users, ask(one, task, task.users)) if ours else favourite(one, task, least)  # ours compiles here
        if "seconds" in answer:
            plan.append((one, users))
        else:
            row["packages"][one.peer.name] = answer
    # Ours again, with as many users as each of the others has.
    mine = next((one for one in parties if one.peer == OURS), None)
    sizes = {users for one, users in plan if one.peer not in (OURS, ONE_CORE)}
    small = [(mine, users) for users in sorted(sizes)] if mine is not None else []
    turns = [*plan, *small]
    answers: list[list[Answer]] = [[] for _ in turns]
    for turn in range(PATIENCE * repeats):
        for place, (one, users) in enumerate(turns):
            is_peer = one.peer not in (OURS, ONE_CORE)
            if turn < repeats or (is_peer and len(_quiet(answers[place])) < repeats):
                answer = ask(one, task, users)
                if "seconds" in answer:
                    answers[place].append(answer)
    alike = {users: _median(given) for (_, users), given in zip(small, answers[len(plan) :], strict=True) if given}
    for (one, users), given in zip(plan, answers, strict=False):
        if not given:
            row["packages"][one.peer.name] = ask(one, task, users)
            continue
        quiet = _quiet(given)
        fastest = min(answer["seconds"] for answer in quiet or given)
        is_peer = one.peer not in (OURS, ONE_CORE)
        seconds = fastest if is_peer else _median(given)
        entry = {"users": users, "seconds": seconds, "per_user": seconds / users, "turns": len(given), "quiet": len(quiet)}
        if users in alike and is_peer:
            entry["ours_with_as_many"] = alike[users]
        row["packages"][one.peer.name] = entry
    return row


def _quiet(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer.get("others", 0.0) <= QUIET]


def _median(answers: list[Answer]) -> float:
    return statistics.median(answer["seconds"] for answer in answers)


def compare_all(tasks: list[Task], repeats: int, least: float, say: Progress) -> list[dict[str, Any]]:
    """All rows, with the same processes from beginning to end."""
    rows = []
    with conversations([OURS, ONE_CORE, NAIVE, *OTHERS]) as parties:
        for task in tasks:
            say(task.key)
            rows.append(compare(task, parties, repeats, least))
    return rows


def about(peers: list[Peer]) -> dict[str, Answer]:
    """The versions that everyone runs."""
    with conversations(peers) as parties:
        return {one.peer.name: one.ask(do="about") for one in parties}


def check_estimates(say: Progress) -> list[dict[str, Any]]:
    """Does every package estimate what is true? Rows with the distance from the truth in standard errors."""
    rows = []
    with conversations([OURS, NAIVE, *OTHERS]) as parties:
        for mechanism, k in (
            ("k-rr", 2),
            ("k-rr", 100),
            ("oue", 100),
            ("sue", 100),
            ("olh", 100),
            ("hadamard", 100),
            ("laplace", 2),
        ):
            task = Task("check", mechanism, k, CHECKED_USERS)
            say(task.key)
            for one in parties:
                answer = ask(one, task, CHECKED_USERS, repeats=CHECKS)
                if "estimate" in answer:
                    away = (answer["estimate"] - answer["truth"]) / answer["standard_error"]
                    rows.append({"package": one.peer.name, "label": task.label, **answer, "errors_away": away})
    return rows


def end_to_end(quick: bool, repeats: int, say: Progress) -> list[dict[str, Any]]:
    """From values to estimates with the same number of users for everyone, each in a fresh process, and its peak memory."""
    rows = []
    for task in both_ways(quick):
        say(task.key)
        row: dict[str, Any] = {"task": task.key, "label": task.label, "users": task.users, "packages": {}}
        with conversations([OURS, NAIVE, *OTHERS]) as parties:
            runs: dict[str, list[float]] = {}
            for turn in range(repeats + 1):
                for one in parties:
                    answer = ask(one, task, task.users)
                    if "seconds" not in answer:
                        row["packages"].setdefault(one.peer.name, answer)
                    elif turn:  # The first time compiles.
                        runs.setdefault(one.peer.name, []).append(answer["seconds"])
            for one in parties:
                if one.peer.name in runs:
                    row["packages"][one.peer.name] = {"seconds": statistics.median(runs[one.peer.name]), **one.ask(do="memory")}
        rows.append(row)
    return rows
