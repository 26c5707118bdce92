"""How far one value walks: files and packages whose functions run, from a value to an estimate and from an answer to the dashboard.

    python benchmarks/walks.py [--files] [--json]

A file counts when one of its functions is called; what is only imported does not. `--files` lists them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import deniable
from deniable.collector import Serving, Store, listening_socket, make_server, routes
from deniable.estimators import shares
from deniable.surveys import HttpTransport, Ledger, Session, survey_from_toml

PACKAGE = Path(deniable.__file__).parent
SURVEY = """
title = "Commuting"
purpose = "To plan buses."
epsilon = 1
release = "live"
[attributes.way]
question = "How do you travel to work?"
domain = "categories:on foot,by bicycle,by bus,by car"
"""


def category() -> None:
    """One category: randomized, encoded, decoded, counted, estimated."""
    mechanism = deniable.KaryRandomizedResponse(domain=deniable.Categories(9), epsilon=1)
    sums = mechanism.accumulator()
    for value in range(9):
        sums.add([deniable.decode_report(mechanism, deniable.encode_report(mechanism, mechanism.randomize(value)))])
    shares(sums).interval()


def answer() -> None:
    """A survey's answer: from a device over HTTP to the numbers of the Results page."""
    survey = survey_from_toml(SURVEY)
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/collector.db"
        store = Store(database)
        store.add_survey(survey)
        store.close()
        ready = threading.Event()
        listening = listening_socket("127.0.0.1", 0)
        server = make_server(Serving(database, pages=lambda: list(routes())), ready.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert ready.wait(60), "the collector did not start"
            address = "http://{}:{}".format(*listening.getsockname())
            device = Session(survey, Ledger(f"{folder}/ledger.db"), address)
            assert device.answer({"way": "by bus"}).delivered
            status, _ = HttpTransport().get(f"{address}/v1/surveys/{survey.hash}/estimates")
            assert status == 200
        finally:
            server.should_exit = True
            thread.join(60)


@contextmanager
def watched() -> Iterator[set[str]]:
    """The files of the package whose functions are called, in every thread that starts meanwhile."""
    called: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            called.add(str(Path(name).relative_to(PACKAGE)))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield called
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def main() -> None:
    """Count both walks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--files", action="store_true", help="list the files")
    options.add_argument("--json", action="store_true", help="print JSON")
    chosen = options.parse_args()
    walks: dict[str, Callable[[], None]] = {
        "a category, from value to estimate": category,
        "a survey's answer, to the dashboard": answer,
    }
    counted = {}
    for name, walk in walks.items():
        # Watched from the start, because threads that the first walk starts may serve the second one too.
        with watched() as called:
            walk()
            called.clear()  # what is loaded only once is not part of the walk
            walk()
        counted[name] = sorted(called)
    if chosen.json:
        print(json.dumps(counted, indent=1))
        return
    for name, files in counted.items():
        print(f"{name}: {len(files)} files in {len({file.split('/')[0] for file in files if '/' in file})} packages")
        if chosen.files:
            print(*(f"  {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
