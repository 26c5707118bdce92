"""Options that have no effect are refused, in one sentence that says what they go with."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli.app import main
from deniable.core import RandomizedResponse, canonical_json

MEAN = "plan --task mean --epsilon 1 --users 1000"
TREND = "plan --task trend --periods 4 --epsilon 1 --users 1000"
INTERVAL = "design --epsilon 1"
LINEAR = "design --workload prefix --size 4 --epsilon 1"


@pytest.mark.parametrize(
    ("command", "option", "use"),
    [
        (MEAN, "--bins 12", "--task distribution or quantile"),
        (MEAN, "--bins 16", "--task distribution or quantile"),  # the default, asked for by name
        (MEAN, "--quantile .3", "--task quantile"),
        (MEAN, "--words 5", "--task heavy-hitters"),
        (MEAN, "--metric wasserstein", "--task distribution"),
        (MEAN, "--periods 4", "--task trend"),
        (MEAN, "--changes 4", "--task trend"),
        (MEAN, "--window 4", "--task trend"),
        (MEAN, "--untrackable", "--task trend"),
        (MEAN, "--workload prefix", "--task workload"),
        (MEAN, "--test .5,.5 .4,.6", "--task test"),
        (MEAN, "--unchanging", "--repeats"),
        (MEAN, "--delta 1e-7", "--shuffled"),
        (TREND, "--repeats 4", "--periods"),
        (TREND, "--unchanging", "--periods"),
        (INTERVAL, "--size 4", "--workload"),
        (INTERVAL, "--error worst", "--workload"),
        (INTERVAL, "--method descent", "--workload"),
        (INTERVAL, "--privacy metric", "--workload"),
        (INTERVAL, "--divergence tv", "--test"),
        (LINEAR, "--domain circle", "counted"),
        (LINEAR, "--loss squared", "counted"),
        (LINEAR, "--unbiased", "counted"),
        (LINEAR, "--divergence tv", "--test"),
        ("design --test .5,.5 .4,.6 --epsilon 1", "--prior uniform", "without --test"),
        ("design --test .5,.5 .4,.6 --epsilon 1", "--chart a.svg", "without --test"),
        ("audit --recipe r.json", "--inputs 1,2", "--command"),
        ("audit --recipe r.json", "--delta .1", "--command"),
        ("audit --recipe r.json", "--level .99", "--samples"),
        ("audit --recipe r.json", "--lines", "--command"),
        ("audit --recipe r.json", "--vectorised", "--python"),
        ("audit --recipe r.json", "--timeout 3", "--command"),
        ("audit --python json:dumps --inputs 1,2 --epsilon 1", "--lines", "--command"),
        ("account shuffle --epsilon 1 --users 100", "--domain categories:4", "--mechanism"),
        ("trajectory map random:3x3 --epsilon 1 --output a.svg", "--cells 4", "--show density"),
        ("trajectory map random:3x3 --epsilon 1 --output a.svg --show density", "--paths 4", "--show paths"),
        ("trajectory map random:3x3 --epsilon 1 --output a.svg --show true-density", "--locations 4", "--show paths"),
        ("trajectory compare r.csv", "--place-cells 4", "random"),
        ("audit --command cat --inputs 1,2 --epsilon 1", "--vectorised", "--python"),
    ],
)
def test_an_option_without_effect_is_refused(
    command: str, option: str, use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_bytes(canonical_json(RandomizedResponse(epsilon=1).recipe()))
    refused = CliRunner().invoke(main, [*command.split(), *option.split()])
    assert refused.exit_code == 2, refused.output
    assert f"{option.split()[0]} has no effect" in refused.stderr
    assert use in refused.stderr
    assert refused.stdout == ""
