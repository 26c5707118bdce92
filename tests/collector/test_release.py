"""Public numbers move in steps: whoever looks after every report cannot tell what that report was."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.batch import Accumulator
from deniable.cli.watch import _tables
from deniable.collector import Arrival, Store, estimate_cache, estimates
from deniable.collector.dashboard.publication import publication_of
from deniable.collector.steps import Published, live, published
from deniable.core import Report
from deniable.estimators import support
from deniable.surveys import Submission, Survey, batch_head, submission_to_json, survey_from_toml

from .inside import Inside

TOML = """
title = "Travel"
purpose = "To plan bus lines."
epsilon = 1
[attributes.commute]
question = "How did you get to work today?"
domain = "categories:bike,bus,car,walk"
[attributes.home]
question = "Where do you live?"
domain = "rectangle:0,8,0,8,4"
mechanism = "nearest-cells"
"""
ALONE = TOML.split("[attributes.home]")[0]
LABELS = ["bike", "bus", "car", "walk"]


@pytest.fixture
def fresh_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate_cache, "FRESH_SECONDS", 0.0)


def served(folder: Path, toml: str) -> tuple[Inside, Survey]:
    survey = survey_from_toml(toml)
    store = Store(f"sqlite:///{folder / 'collector.db'}")
    store.add_survey(survey)
    return Inside(store), survey


def answered(inside: Inside, survey: Survey, value: object) -> int:
    """One person answers; what was in the report."""
    report = survey.mechanism.randomize(value)
    status, _ = inside.post(f"/v1/surveys/{survey.hash}/submissions", submission_to_json(survey, Submission.fresh(report)))
    assert status == 200
    return report.output


def crowd(inside: Inside, survey: Survey, values: object) -> None:
    body = batch_head(survey) + survey.mechanism.randomize_many(values).to_bytes()
    assert inside.post(f"/v1/surveys/{survey.hash}/batches", body, "application/vnd.deniable.batch")[0] == 200


def published_counts(inside: Inside, survey: Survey) -> tuple[int, ...]:
    """How often each answer was reported, worked out from the published estimates."""
    said = inside.json(f"/v1/surveys/{survey.hash}/estimates")
    (attribute,) = said["attributes"]
    if not attribute["views"]:
        return (0, 0, 0, 0)
    law = support(survey.mechanism)
    shares = {row["label"]: row["value"] for row in attribute["views"][0]["rows"]}
    return tuple(round(said["n"] * (shares[label] * float(law.p - law.q) + float(law.q))) for label in LABELS)


def differences(inside: Inside, survey: Survey, count: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Somebody looks after every report: what was reported, and by how much the published counts moved."""
    before = published_counts(inside, survey)
    for number in range(count):
        output = answered(inside, survey, LABELS[number % 4])
        after = published_counts(inside, survey)
        yield output, tuple(b - a for a, b in zip(before, after, strict=True))
        before = after


def isolated(output: int, moved: tuple[int, ...]) -> bool:
    return sum(moved) == 1 and moved[output] == 1


@pytest.mark.usefixtures("fresh_estimates")
def test_looking_after_every_report_recovers_none_of_them(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, ALONE)
    crowd(inside, survey, ["bus"] * 300)
    recovered = sum(isolated(output, moved) for output, moved in differences(inside, survey, 25))
    inside.close()
    assert recovered == 0


@pytest.mark.usefixtures("fresh_estimates")
def test_looking_after_every_report_sees_at_least_a_hundred_at_a_time(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, "release = { minutes = 0 }\n" + ALONE)
    moved = []
    for already in (95, 95):
        crowd(inside, survey, ["bus"] * already)
        moved += [sum(counts) for _, counts in differences(inside, survey, 8)]
    inside.close()
    assert [step for step in moved if step] == [100, 100]


@pytest.mark.usefixtures("fresh_estimates")
def test_a_live_survey_says_so_and_hides_nothing(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, 'release = "live"\n' + ALONE)
    recovered = sum(isolated(output, moved) for output, moved in differences(inside, survey, 25))
    said = inside.json(f"/v1/surveys/{survey.hash}/estimates")
    inside.close()
    assert recovered >= 24  # the shares of a single report are known before it: the first has nothing to be compared with
    assert "learns that report" in said["release"]


@pytest.mark.usefixtures("fresh_estimates")
def test_nothing_that_everyone_can_see_moves_between_steps(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, 'strategy = "split"\n' + TOML)
    people = {"commute": ["bus"] * 300, "home": [(1.0, 1.0)] * 300}
    crowd(inside, survey, people)
    base = f"/v1/surveys/{survey.hash}"
    places = ["/v1/surveys", base, f"{base}/estimates", f"{base}/estimates?window=", "/health", "/metrics"]
    places += [f"/dashboard/surveys/{survey.hash}/{page}" for page in ("privacy", "map?attribute=home")]
    before = {place: inside.get(place) for place in places}
    for _ in range(5):
        answered(inside, survey, {"commute": "car", "home": (7.0, 7.0)})
        inside.app.state.place_maps = None
        assert {place: inside.get(place) for place in places} == before
    inside.close()
    assert all(status == 200 for status, _ in before.values())
    assert json.loads(before[f"{base}/estimates"][1])["n"] == 0


def counted(store: Store, survey: Survey, count: int, period: str = "", output: int = 0) -> None:
    """So many reports arrive, in one transaction."""
    reports = [Report(survey.mechanism.fingerprint, output) for _ in range(count)]
    assert store.count([Arrival(survey, period, secrets.token_bytes(16), reports, count)]) == [True]


def opened(folder: Path, toml: str) -> tuple[Store, Survey, float]:
    """A store with one survey, and a moment an hour after it was opened."""
    survey = survey_from_toml(toml)
    store = Store(f"sqlite:///{folder / 'collector.db'}")
    store.add_survey(survey)
    return store, survey, time.time() + 3700


def test_below_the_first_step_there_are_no_numbers_but_how_far_it_is(tmp_path: Path) -> None:
    store, survey, later = opened(tmp_path, ALONE)
    counted(store, survey, 23)
    early = published(store, survey)
    shown = published(store, survey, later)
    assert (shown.whole.n, shown.windows, shown.waiting) == (0, {}, "23 of 100 reports")
    assert early.waiting.startswith("23 of 100 reports; the first numbers come at ")
    said = estimates.estimates(survey, shown)
    assert (said.n, said.waiting, said.attributes[0].views) == (0, "23 of 100 reports", [])
    counted(store, survey, 300)
    assert published(store, survey).waiting.startswith("at least 100 reports; the first numbers come at ")
    store.close()


def test_a_step_needs_enough_reports_and_enough_time(tmp_path: Path) -> None:
    store, survey, later = opened(tmp_path, ALONE)
    counted(store, survey, 120)
    assert published(store, survey).whole.n == 0
    assert published(store, survey, later).whole.n == 120
    counted(store, survey, 1000)
    assert published(store, survey, later + 3599).whole.n == 120
    assert published(store, survey, later + 3601).whole.n == 1120
    counted(store, survey, 99)
    assert published(store, survey, later + 10 * 3601).whole.n == 1120
    store.close()


def test_every_worker_shows_the_same_step_also_after_a_restart(tmp_path: Path) -> None:
    store, survey, later = opened(tmp_path, ALONE)
    others = [Store(str(store.engine.url)) for _ in range(3)]
    counted(store, survey, 150)
    gate, seen = threading.Barrier(4), []

    def look(worker: Store) -> None:
        gate.wait()
        seen.append(published(worker, survey, later))

    workers = [threading.Thread(target=look, args=(worker,)) for worker in (store, *others)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    counted(others[0], survey, 50)
    for worker_store in (store, *others):
        worker_store.close()
    again = Store(str(store.engine.url))
    seen.append(published(again, survey, later + 60))
    again.close()
    assert len(seen) == 5
    assert all(shown == seen[0] for shown in seen)
    assert seen[0].whole.n == 150


def test_public_numbers_are_sums_of_groups_of_a_hundred_over_all_windows(tmp_path: Path) -> None:
    """Windows by themselves and all together: no difference of what was ever shown is about fewer reports than a step has."""
    store, survey, now = opened(tmp_path, 'release = { minutes = 0 }\nrepeat = "each-window"\nwindow = "day"\nbudget = 9\n' + ALONE)
    choose = Random(5)
    days = [time.strftime("%Y-%m-%d", time.gmtime(now + 86400 * day)) for day in range(-3, 1)]
    before = published(store, survey, now)
    groups, pooled = [], []
    for day, period in enumerate(days):
        for _ in range(20):
            # Now and then a report arrives for a window that is over.
            counted(store, survey, choose.choice([1, 5, 20, 40]), choose.choice([*days[: day + 1], *[period] * 9]))
            after = published(store, survey, now + 86400 * (day - 3))
            moved = {name: part.n - shown_n(before, name) for name, part in after.windows.items()}
            rest = after.whole.n - before.whole.n - sum(moved.values())
            groups += [n for n in moved.values() if n]
            pooled += [rest] if rest else []
            before = after
    store.close()
    assert min(groups) >= 100
    assert min(pooled) >= 100
    assert before.whole.n == sum(groups) + sum(pooled)


def test_a_window_that_went_into_the_total_with_others_is_never_shown_by_itself(tmp_path: Path) -> None:
    store, survey, now = opened(tmp_path, 'release = { minutes = 0 }\nrepeat = "each-window"\nwindow = "day"\nbudget = 9\n' + ALONE)
    counted(store, survey, 99, "2020-01-01")
    counted(store, survey, 1, "2020-01-02", output=3)
    assert published(store, survey, now).whole.n == 100
    counted(store, survey, 150, "2020-01-02")
    later, at_once = published(store, survey, now), live(store, survey)
    store.close()
    assert later.periods == at_once.periods == 2
    # Shown by itself it would have 151 reports while the total grew by 150: the one of the first hundred would stand there.
    assert (later.whole.n, later.windows) == (250, {})


def shown_n(shown: Published, period: str) -> int:
    found: Accumulator | None = shown.windows.get(period)
    return 0 if found is None else found.n


@pytest.mark.usefixtures("fresh_estimates")
def test_whoever_has_an_admins_token_sees_every_report(tmp_path: Path) -> None:
    inside, survey = served(tmp_path, ALONE)
    admin, sender = inside.store.add_token("alice", "admin"), inside.store.add_token("kiosk", "submit")
    crowd(inside, survey, ["bus"] * 300)
    path = f"/v1/surveys/{survey.hash}/estimates"
    assert inside.json(path, admin)["n"] == 300
    assert [inside.json(path, token)["n"] for token in (None, sender, "wrong")] == [0, 0, 0]
    assert b"deniable_reports_accepted_total 300" in inside.get("/metrics", admin)[1]
    for token in (None, sender):
        assert b"accepted" not in inside.get("/metrics", token)[1]
    inside.close()


def test_watch_says_how_far_it_is_and_which_step_it_shows(tmp_path: Path) -> None:
    store, survey, later = opened(tmp_path, ALONE)
    counted(store, survey, 23)
    said = json.loads(estimates_json(survey, published(store, survey, later)))
    assert [part.plain.strip() for part in _tables(said)] == ["Travel", "23 of 100 reports", survey.release_words]
    counted(store, survey, 100)
    said = json.loads(estimates_json(survey, published(store, survey, later)))
    store.close()
    *_, meaning, last = _tables(said)
    assert meaning.plain == "In 95 of 100 such surveys each interval on its own holds the true value."
    assert last.plain == f"As of {said['as_of']}. {survey.release_words}"


def estimates_json(survey: Survey, shown: Published) -> bytes:
    from deniable.collector.messages import ENCODER

    return ENCODER.encode(estimates.estimates(survey, shown))


def test_a_shuffled_number_is_claimed_only_where_its_conditions_are_met() -> None:
    thousand = "release = { reports = 1000 }\n" + ALONE
    claim = "is (0.149, 1e-06)-private instead of 1"
    assert claim in publication_of(survey_from_toml(thousand), needs_token=True)[-1]
    repeated = 'repeat = "each-window"\nwindow = "day"\nbudget = 9\n' + thousand
    for toml, needs_token, why in (
        (thousand, False, "everyone can send reports of their own"),
        (repeated, True, "people answer more than once"),
        ('release = "live"\n' + ALONE, True, "nothing is claimed"),
        (thousand.replace("epsilon = 1", "epsilon = 12"), True, "too small to claim"),
    ):
        words = " ".join(publication_of(survey_from_toml(toml), needs_token=needs_token))
        assert why in words
        assert "-private" not in words


def test_the_pages_say_who_can_still_single_out_a_report() -> None:
    words = " ".join(publication_of(survey_from_toml(ALONE), needs_token=False))
    assert "Whoever sends 99 reports of their own into a step with one of yours can still work out yours" in words
    assert "tokens for submissions would prevent it" in words
