"""How long do pairing and two-party sampling take, how much do they send, and is the law right?

    python benchmarks/secure.py [--draws 10000] [--users 1000000] [--dealers 2000] [--record 2000] [--committee 128] [--json]

Parts: one draw over a loopback socket (sealed); many draws in one process against the integer table; the steps of joint
randomness for each user, and the permutation of all; a public record on disk, followed in a process of its own that starts from
the file alone; hidden pairing by three processes. 0 skips a part.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from deniable.privacy import goodness_of_fit
from deniable.studies import (
    BlindRequest,
    Identity,
    JointRandomness,
    Participant,
    SealedLink,
    SocketLink,
    Thresholds,
    close_line,
    commit_line,
    converse,
    converse_together,
    draw_as_first,
    draw_as_second,
    draw_many_as_first,
    draw_many_as_second,
    load_rows,
    member_input,
    open_line,
    pair_users,
    points_line,
    read_partner,
    reveal_line,
    share_fits,
)

LAW = Thresholds.of("7310585786300049/10000000000000000", "-2/10")


def one_draw(runs: int = 20) -> dict[str, Any]:
    """Connect, shake hands, draw; both users in this process, on a loopback socket."""
    seconds, traffic = [], 0
    ada, bob = Identity.new(), Identity.new()
    for _ in range(runs):
        with socket.create_server(("127.0.0.1", 0)) as server:

            def second(listening: socket.socket = server) -> None:
                with SocketLink(listening.accept()[0], 30) as link:
                    sealed = SealedLink(link, bob, ada.public, first=False, context=b"")
                    converse(draw_as_second(LAW, sealed.context), sealed)

            thread = threading.Thread(target=second)
            begin = time.perf_counter()
            thread.start()
            with SocketLink.connect("127.0.0.1", server.getsockname()[1]) as link:
                sealed = SealedLink(link, ada, bob.public, first=True, context=b"")
                converse(draw_as_first(LAW, sealed.context), sealed)
                thread.join(30)
                traffic = link.sent + link.received
            seconds.append(time.perf_counter() - begin)
    return {"draw_seconds_median": statistics.median(seconds), "draw_seconds_worst": max(seconds), "draw_bytes": traffic}


def many_draws(draws: int) -> dict[str, Any]:
    """The joint distribution of many draws with one partner."""
    begin = time.perf_counter()
    first, second = converse_together(draw_many_as_first(LAW, b"bench", draws), draw_many_as_second(LAW, b"bench", draws))
    seconds = time.perf_counter() - begin
    seen = Counter(zip(first, second, strict=True))
    counts = [seen[cell] for cell in ((True, True), (True, False), (False, True), (False, False))]
    chance = goodness_of_fit(counts, LAW.weights)
    return {"draws": draws, "seconds": seconds, "counts": counts, "tail_probability": chance, "passes": chance > 1e-6}


def joint_randomness(dealers: int) -> dict[str, Any]:
    """Microseconds for each user in every step, committee of three, one user in a hundred silent."""
    found: dict[str, Any] = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        found[f"{name}_us_per_user"] = 1e6 * (now - clock) / dealers
        clock = time.perf_counter()

    people = [Participant.new("bench", f"u{number}", 3) for number in range(dealers)]
    lap("deal")
    record = JointRandomness("bench", 3)
    for user in people:
        record.commit(user.name, user.commitment)
    lap("commit")
    record.advance()
    for user in people:
        record.publish_points(user.name, user.dealing.points)
    lap("points")
    record.advance()
    assert all(share_fits(user.dealing.points, 3, user.dealing.shares[3]) for user in people)
    lap("member_checks")
    record.advance()
    silent = (dealers + 99) // 100
    for user in people[silent:]:
        record.reveal(user.name, user.contribution)
    lap("reveal")
    record.advance()
    for user in people[:silent]:
        record.open(user.name, {1: user.dealing.shares[1], 2: user.dealing.shares[2]})
    lap("open_1_percent")
    record.advance()
    record.result()
    lap("result")
    return found


FOLLOW = """
import json, re, sys, time
from deniable.studies import pair_users, replay
def memory():  # Linux; ru_maxrss would remember the parent's peak
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
begin, empty = time.perf_counter(), memory()
with open(sys.argv[1]) as file:
    told = replay("bench", 3, file)
followed = time.perf_counter() - begin
result, names = told.randomness.result(), told.randomness.participants
assert not told.refused
pairs = len(pair_users(result, names).pairs)
print(json.dumps({"follow_seconds": followed, "follow_and_pair_seconds": time.perf_counter() - begin,
    "follow_and_pair_processor_us_per_user": 1e6 * time.process_time() / len(names),
    "pairs": pairs, "follow_peak_bytes_per_user": (memory() - empty) / len(names)}))
"""


def public_record(users: int) -> dict[str, Any]:
    """Write a whole record, one user in a hundred silent, and follow it from the file; memory included."""
    with tempfile.TemporaryDirectory() as name:
        begin, folder = time.perf_counter(), Path(name)
        files = [(folder / part).open("w", encoding="utf-8") for part in ("commit", "points", "reveal", "open")]
        for number in range(users):
            user = Participant.new("bench", f"u{number}", 3)
            last = number % 100 == 0
            lines = [commit_line(user), points_line(user), "" if last else reveal_line(user)]
            lines.append(open_line(user.name, {1: user.dealing.shares[1], 2: user.dealing.shares[2]}) if last else "")
            for file, line in zip(files, lines, strict=True):
                file.write(line + "\n" if line else "")
        ends = ["commit"], ["deal", "complain"], ["reveal"], ["open"]
        with (folder / "record").open("wb") as record:
            for file, phases in zip(files, ends, strict=True):
                file.close()
                with Path(file.name).open("rb") as part:
                    shutil.copyfileobj(part, record)
                record.write("".join(close_line(phase) + "\n" for phase in phases).encode())
            size = record.tell()
        written = time.perf_counter() - begin
        done = subprocess.run([sys.executable, "-c", FOLLOW, str(folder / "record")], capture_output=True, text=True, check=True)
    return {"record_users": users, "write_seconds": written, "record_bytes_per_user": size / users, **json.loads(done.stdout)}


def pairing(users: int) -> dict[str, Any]:
    """Permute and pair everybody."""
    names = [f"user{number}" for number in range(users)]
    begin = time.perf_counter()
    pair_users(bytes(32), names)
    return {"users": users, "pairing_seconds": time.perf_counter() - begin}


def hidden_pairing(users: int, members: int = 3) -> dict[str, Any]:
    """Three processes on loopback sort secret keys."""
    requests = [BlindRequest.new() for _ in range(users)]
    shares = {number: request.shares(members) for number, request in enumerate(requests)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.perf_counter()
        processes = []
        for member in range(members):
            (folder / f"in{member}").write_text(json.dumps(member_input(shares, member)))
            options = ["--members", str(members), "--index", str(member), "--base-port", "11480"]
            files = ["--input", str(folder / f"in{member}"), "--output", str(folder / f"out{member}")]
            command = [sys.executable, "-m", "deniable", "joint", "committee", *options, *files]
            processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        codes = [process.wait(600) for process in processes]
        seconds = time.perf_counter() - begin
        assert codes == [0] * members, codes
        rows = load_rows(folder / "out0")
    partners = [read_partner(request, rows, users) for request in requests]
    assert all(partner is None or partners[partner] == user for user, partner in enumerate(partners))
    return {"committee_users": users, "committee_seconds": seconds}


def main() -> None:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--dealers", type=int, default=2_000)
    parser.add_argument("--record", type=int, default=2_000)
    parser.add_argument("--committee", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = one_draw()
    parts = [(many_draws, chosen.draws), (joint_randomness, chosen.dealers), (public_record, chosen.record)]
    parts += [(pairing, chosen.users), (hidden_pairing, chosen.committee)]
    for part, size in parts:
        found |= part(size) if size else {}
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:28} {value if not isinstance(value, float) else format(value, '.6g')}")


if __name__ == "__main__":
    main()
