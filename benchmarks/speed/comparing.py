"""Everyone does the same work in turns, several times; medians, and seconds per user."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from speed.conversation import Answer, Conversation, conversations
from speed.environments import NAIVE, ONE_CORE, OTHERS, OURS, Peer
from speed.tasks import EPSILON, Task, both_ways

LEAST_SECONDS = 0.1
"""A peer gets more and more users until its work takes so long; fewer are not timed well."""
FEWEST = 256
CHECKED_USERS, CHECKS = 400, 64
Progress = Callable[[str], None]


def ask(one: Conversation, task: Task, users: int, do: str = "", **more: Any) -> Answer:
    """Put a task to one package."""
    return one.ask(do=do or task.do, mechanism=task.mechanism, n=users, k=task.k, epsilon=EPSILON, **more)


def settled(one: Conversation, task: Task, least: float) -> tuple[int, Answer]:
    """How many users the package gets, and its last answer. The first question is not timed: it may compile."""
    users = FEWEST
    ask(one, task, users)
    while True:
        answer = ask(one, task, users)
        if "seconds" not in answer or users >= task.users or answer["seconds"] >= least:
            return users, answer
        users = min(4 * users, task.users)


def compare(task: Task, parties: list[Conversation], repeats: int, least: float = LEAST_SECONDS) -> dict[str, Any]:
    """One row: every package's median seconds per user, and ours with as many users as each peer had."""
    plan: list[tuple[Conversation, int]] = []
    row: dict[str, Any] = {"task": task.key, "label": task.label, "do": task.do, "packages": {}}
    for one in parties:
        ours = one.peer in (OURS, ONE_CORE)
        users, answer = (task.users, ask(one, task, task.users)) if ours else settled(one, task, least)  # ours compiles here
        if "seconds" in answer:
            plan.append((one, users))
        else:
            row["packages"][one.peer.name] = answer
    # Ours again, with as many users as each of the others has.
    mine = next((one for one in parties if one.peer == OURS), None)
    rest = {users for one, users in plan if one.peer not in (OURS, ONE_CORE)}
    small = [(mine, users) for users in sorted(rest)] if mine is not None else []
    turns = [*plan, *small]
    times: list[list[float]] = [[] for _ in turns]
    for _ in range(repeats):
        for place, (one, users) in enumerate(turns):
            answer = ask(one, task, users)
            if "seconds" in answer:
                times[place].append(answer["seconds"])
    alike = {users: statistics.median(found) for (_, users), found in zip(small, times[len(plan) :], strict=True) if found}
    for (one, users), found in zip(plan, times, strict=False):
        if not found:
            row["packages"][one.peer.name] = ask(one, task, users)
            continue
        seconds = statistics.median(found)
        entry = {
            "users": users,
            "seconds": seconds,
            "fastest": min(found),
            "slowest": max(found),
            "per_user": seconds / users,
        }
        if users in alike and one.peer not in (OURS, ONE_CORE):
            entry["ours_with_as_many"] = alike[users]
        row["packages"][one.peer.name] = entry
    return row


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
