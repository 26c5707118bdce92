"""An artifact computed as the command does it, and what must hold of every one."""

from __future__ import annotations

import json

from reproduce.tests.recorded import changed

from deniable_reproduce.agreement import disagreements
from deniable_reproduce.artifact import UNREAD, Result, Run
from deniable_reproduce.catalogue import find
from deniable_reproduce.run import compute
from tests.outside_data import FOLDER


def computed(name: str) -> Result:
    found: Result = json.loads(json.dumps(compute(find(name), Run(data=FOLDER))))
    return found


def check(name: str, *, twice: bool) -> None:
    artifact, result = find(name), computed(name)
    if twice:
        assert computed(name) == result
    for verdict in artifact.verdicts(result):
        assert verdict.explained, f"{name}: {verdict.name} {verdict.published} is {verdict.ours}"
        assert disagreements(verdict) == [], f"{name}: {verdict.name}"
        assert verdict.why != UNREAD, f"{name}: {verdict.name} rests on no number of the run"
    assert changed(artifact, result) == [], name
    for picture in artifact.draw(result).values() if artifact.draw else ():
        assert picture.to_dict()["title"]["text"]
    if artifact.table:
        assert list(artifact.table(result))
