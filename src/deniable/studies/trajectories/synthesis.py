"""Made-up paths that move like the real ones: a protocol of its own, in the manner of LDPTrace (Du et al., 2023).

Every person answers one of four questions about the walk on a coarse public grid: how long it is, where it starts, one
step of it, or where it ends. Which one is a public coin, thrown by the person's own device: the people are split, not
epsilon, so every report has all of epsilon, for the whole path. LDPTrace asks everyone everything and splits epsilon;
at the same epsilon four questions for a quarter of the people each are less noisy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from deniable.batch import Accumulator, Keystream, KeystreamCoins, Reports, SystemKeystream, randomize_many
from deniable.core import SYSTEM, Categories, Coins, Epsilon, EpsilonLike, Mechanism, Rectangle, Report, mechanisms_for
from deniable.errors import InvalidParameter
from deniable.estimators import shares, support
from deniable.studies.trajectories.grid_walks import GridMoves, Walks
from deniable.studies.trajectories.paths import Paths
from deniable.studies.trajectories.synthetic import MovementModel

Question = Literal["length", "start", "move", "end"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
MOST_CELLS = 400


class Answer(NamedTuple):
    """A person's whole message: which question the coin chose, and the report."""

    question: Question
    report: Report


@dataclass(frozen=True)
class MovementSurvey:
    """The public rules: the grid, the privacy level of a whole path, and the longest length that is told apart.

    Guarantee: epsilon-LDP for the whole path of a person, however long, since one report is made of it. A path enters
    as the cells of its grid, jumps filled in straight; lengths are told in ranges that double every two.

    >>> from deniable.core import Interval, Rectangle
    >>> survey = MovementSurvey(Rectangle(Interval(0, 1, cells=4), Interval(0, 1, cells=4)), epsilon=2)
    >>> [survey.mechanisms[name].domain.size for name in QUESTIONS]
    [12, 16, 85, 16]
    """

    region: Rectangle
    epsilon: EpsilonLike
    longest: int = 64

    def __post_init__(self) -> None:
        if not isinstance(self.region, Rectangle) or not 2 <= self.region.size <= MOST_CELLS:
            raise InvalidParameter(f"region must be a Rectangle of 2 to {MOST_CELLS} cells: a coarse grid, such as 8 by 8")
        if isinstance(self.longest, bool) or not isinstance(self.longest, int) or not 2 <= self.longest <= 1 << 16:
            raise InvalidParameter("longest must be a whole number of cells from 2 to 65536")
        Epsilon(self.epsilon)

    @cached_property
    def moves(self) -> GridMoves:
        """All steps there are."""
        return GridMoves(self.region.y.cells, self.region.x.cells)

    @cached_property
    def length_starts(self) -> tuple[int, ...]:
        """The least length of every range: 1, 2, 3, 4, 6, 8, 12, 16, … up to `longest`, which stands for all above too."""
        starts = [1, 2]
        while starts[-1] < self.longest:
            power = 1 << (starts[-1].bit_length() - 1)
            starts.append(3 * power // 2 if starts[-1] == power else 2 * power)
        return (*(start for start in starts if start < self.longest), self.longest)

    @cached_property
    def mechanisms(self) -> dict[Question, Mechanism]:
        """For every question the mechanism with the least variance: k-RR, subset selection or OUE."""
        sizes = {"length": len(self.length_starts), "start": self.region.size, "move": len(self.moves) + 1, "end": self.region.size}
        return {name: _best(sizes[name], Epsilon(self.epsilon)) for name in QUESTIONS}

    def randomize(self, path: object, coins: Coins = SYSTEM) -> Answer:
        """What one person sends: one question about their path, answered privately."""
        walks = Walks.of(Paths.of([path]), self.region)  # type: ignore[list-item]
        question = QUESTIONS[coins.below(len(QUESTIONS))]
        return Answer(question, self.mechanisms[question].randomize(self._answer(walks, 0, question, coins), coins))

    def randomize_many(self, paths: Paths, keystream: Keystream | None = None) -> dict[Question, Reports]:
        """The messages of many people, by question: a path is a person."""
        stream = SystemKeystream() if keystream is None else keystream
        walks, coins = Walks.of(paths, self.region), KeystreamCoins(stream)
        answers: dict[Question, list[int]] = {name: [] for name in QUESTIONS}
        for person in range(len(paths)):
            question = QUESTIONS[coins.below(len(QUESTIONS))]
            answers[question].append(self._answer(walks, person, question, coins))
        return {name: randomize_many(self.mechanisms[name], np.array(answers[name], np.int64), stream) for name in QUESTIONS}

    def _answer(self, walks: Walks, person: int, question: Question, coins: Coins) -> int:
        """The private answer: an index. Whole numbers and the coins only."""
        if question == "length":
            length = int(walks.lengths[person])
            return sum(start <= length for start in self.length_starts) - 1
        if question in ("start", "end"):
            return walks.cell(person, last=question == "end")
        steps = int(walks.lengths[person]) - 1
        if steps == 0:
            return len(self.moves)
        return self.moves.number(*walks.step(person, coins.below(steps)))

    def estimate(self, sources: Mapping[Question, Reports | Accumulator]) -> MovementModel:
        """The movement model behind all answers, every part with its intervals."""
        missing = [name for name in QUESTIONS if name not in sources]
        if missing:
            raise InvalidParameter(f"there must be reports for every question; {', '.join(missing)} is missing")
        for name in QUESTIONS:
            if sources[name].mechanism.fingerprint != self.mechanisms[name].fingerprint:
                raise InvalidParameter(f"the reports for {name!r} were made by another recipe than this survey's")
        answers = {name: shares(sources[name], target="population") for name in QUESTIONS}
        return MovementModel(
            self.region, self.moves, self.length_starts, answers["length"], answers["start"], answers["move"], answers["end"]
        )


def _best(size: int, epsilon: Epsilon) -> Mechanism:
    candidates: list[Mechanism] = []
    for kind in mechanisms_for("field", Categories(size)):
        try:
            candidates.append(kind(domain=Categories(size), epsilon=epsilon))
        except InvalidParameter:  # a subset needs more values than a very large epsilon leaves
            continue
    return min(candidates, key=lambda one: support(one).variance(1, 1 / size))
