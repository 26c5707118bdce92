"""An artifact computed as the command does it, and what must hold of every one."""

from __future__ import annotations

import json

from tests.outside_data import FOLDER

from deniable.experiments.artifact import Result, Run
from deniable.experiments.catalogue import find


def computed(name: str) -> Result:
    found: Result = json.loads(json.dumps(find(name).compute(Run(data=FOLDER))))
    return found


def check(name: str, *, twice: bool) -> None:
    artifact, result = find(name), computed(name)
    if twice:
        assert computed(name) == result
    for verdict in artifact.verdicts(result):
        assert verdict.explained, f"{name}: {verdict.name} {verdict.published} is {verdict.ours}"
    for picture in artifact.draw(result).values() if artifact.draw else ():
        assert picture.to_dict()["title"]["text"]
    if artifact.table:
        assert list(artifact.table(result))
