"""Devices that submit until told to stop, and remember what was acknowledged."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

from deniable.surveys import BATCH_TYPE, Submission, Survey, encode_batch, submission_to_json

from .running import call


@dataclass
class Load:
    """Threads that submit single reports and batches, each again and again under the same key until acknowledged."""

    survey: Survey
    address: str
    threads: int = 4
    acknowledged: int = 0
    """Reports that were acknowledged: each must be counted exactly once."""
    uncertain: int = 0
    """Reports that were sent but never answered, even at the end: they may be counted or not."""
    wrong: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: list[threading.Thread] = field(default_factory=list)

    def begin(self) -> None:
        self._running = [threading.Thread(target=self._run, args=(number,)) for number in range(self.threads)]
        for thread in self._running:
            thread.start()

    def finish(self) -> None:
        self._stop.set()
        for thread in self._running:
            thread.join(300)
            assert not thread.is_alive()

    def _run(self, number: int) -> None:
        values = ["bike", "bus", "car", "walk"]
        choose = random.Random(number)
        while not self._stop.is_set():
            many = choose.choice([1, 1, 1, 20])
            reports = [self.survey.mechanism.randomize(choose.choice(values)) for _ in range(many)]
            if many == 1:
                url, body, kind = "submissions", submission_to_json(self.survey, Submission.fresh(reports[0])), "application/json"
            else:
                url, body, kind = "batches", encode_batch(self.survey, reports), BATCH_TYPE
            self._deliver(f"{self.address}/v1/surveys/{self.survey.hash}/{url}", body, kind, many)

    def _deliver(self, url: str, body: bytes, kind: str, many: int) -> None:
        patience = time.monotonic() + 180
        while time.monotonic() < patience:
            status, answer = call(url, body, {"Content-Type": kind}, timeout=20)
            if status == 200:
                with self._lock:
                    self.acknowledged += many
                return
            if status not in (-1, 429, 503):
                with self._lock:
                    self.wrong.append(f"{status} {answer!r}")
                return
            time.sleep(0.05)
        with self._lock:
            self.uncertain += many
