"""How long do pairing and two-party sampling take, how much do they send, and is the law right?

    python benchmarks/secure.py [--draws 10000] [--users 1000000] [--dealers 2000] [--committee 128] [--json]

Parts: one draw over a loopback socket (sealed); many draws in one process against the integer table; the steps of joint
randomness for each user, and the permutation of all; hidden pairing by three processes. 0 skips a part.
"""

from __future__ import annotations

import argparse
import json
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

from deniable.secure import (
    Identity,
    JointRandomness,
    Participant,
    SealedLink,
    SocketLink,
    Thresholds,
    converse,
    converse_together,
    draw_as_first,
    draw_as_second,
    draw_many_as_first,
    draw_many_as_second,
    pair_users,
)
from deniable.secure.committee import load_rows
from deniable.secure.hidden_pairing import BlindRequest, member_input, read_partner
from deniable.secure.shares import share_fits
from deniable.testing import goodness_of_fit

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
            command = [sys.executable, "-m", "deniable.secure.committee", *options, *files]
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
    parser.add_argument("--committee", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = one_draw()
    for part, size in ((many_draws, chosen.draws), (joint_randomness, chosen.dealers), (pairing, chosen.users)):
        found |= part(size) if size else {}
    found |= hidden_pairing(chosen.committee) if chosen.committee else {}
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:28} {value if not isinstance(value, float) else format(value, '.6g')}")


if __name__ == "__main__":
    main()
