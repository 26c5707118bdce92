"""A committee of processes pairs users; only a user can read who his partner is."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.errors import BadMessage, InvalidParameter
from deniable.studies import BlindRequest, load_input, load_rows, member_input, read_partner
from deniable.studies.joint.protocol.committee import run_member
from deniable.studies.joint.protocol.hidden_pairing import KEY_BITS, PRIME, BlindRow

needs_mpyc = pytest.mark.skipif(importlib.util.find_spec("mpyc") is None, reason="mpyc is not installed")


def free_ports(count: int) -> int:
    """The first of so many neighbouring ports nobody listens on."""
    for base in range(20_000 + 37 * (hash(Path.cwd()) % 100), 60_000, 50):
        try:
            for port in range(base, base + count):
                socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return base
    raise AssertionError("no free ports")


def run_committee(folder: Path, requests: list[BlindRequest], members: int = 3) -> list[list[BlindRow]]:
    shares = {user: request.shares(members) for user, request in enumerate(requests)}
    base = free_ports(members)
    processes = []
    for member in range(members):
        (folder / f"in{member}.json").write_text(json.dumps(member_input(shares, member)))
        options = ["--members", members, "--index", member, "--base-port", base, "--timeout", 50]
        files = ["--input", folder / f"in{member}.json", "--output", folder / f"out{member}.json"]
        command = [sys.executable, "-m", "deniable", "joint", "committee", *map(str, options + files)]
        processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
    try:
        assert [process.wait(60) for process in processes] == [0] * members
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [load_rows(folder / f"out{member}.json") for member in range(members)]


@pytest.mark.slow
@needs_mpyc
@pytest.mark.parametrize("users", [7, 8])
def test_the_committee_pairs_everyone(users: int, tmp_path: Path) -> None:
    requests = [BlindRequest.new() for _ in range(users)]
    published = run_committee(tmp_path, requests)
    assert published[0] == published[1] == published[2]
    partners = [read_partner(request, published[0], users) for request in requests]
    assert partners.count(None) == users % 2
    for user, partner in enumerate(partners):
        assert partner is None or (partner != user and partners[partner] == user)
    # It is the sort of the keys, nothing else.
    order = sorted(range(users), key=lambda user: requests[user].key)
    assert all(partners[one] == other for one, other in zip(order[::2], order[1::2], strict=False))
    # A row shows neither number nor name: the mask is a uniform element of a field of 127 bits.
    assert all(row.masked_partner > 2**64 for row in published[0])
    assert [row.key for row in published[0]] == sorted(request.key for request in requests)


def test_fewer_shares_than_a_majority_say_nothing() -> None:
    """One share of three, for two very different keys: the same uniform law. False alarm: less than 1e-6."""
    for key in (0, 2**KEY_BITS - 1):
        highest = sum(BlindRequest(key, 0).shares(3)[0][0] >> 126 for _ in range(400))
        assert 100 < highest < 300
    one, two, three = (share[0] for share in BlindRequest(12345, 1).shares(3))
    assert (2 * one - two) % PRIME == 12345  # Two of them are enough, on a line.
    assert (2 * two - three) % PRIME == one


def test_only_the_owner_reads_his_row() -> None:
    ada, bob = BlindRequest(5, 1000), BlindRequest(9, 2000)
    rows = [BlindRow(5, 1001), BlindRow(9, 2000)]
    assert read_partner(ada, rows, 2) == 1
    assert read_partner(bob, rows, 2) == 0
    assert read_partner(BlindRequest(9, 1998), [*rows], 2) is None
    for request, result in ((BlindRequest(6, 1), rows), (ada, rows[:1]), (ada, [rows[0], rows[0]]), (BlindRequest(5, 7), rows)):
        with pytest.raises(BadMessage):
            read_partner(request, result, 2)
    assert "1000" not in repr(ada)


def test_bad_input_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    for text in ("", "[]", '{"keys": ["1"]}', '{"keys": ["1"], "masks": ["1"]}', '{"keys": ["1", "z"], "masks": ["1", "1"]}'):
        file.write_text(text)
        with pytest.raises(BadMessage):
            load_input(file)
    file.write_text(json.dumps({"keys": ["1", hex(PRIME)], "masks": ["1", "1"]}))
    with pytest.raises(BadMessage, match="field"):
        load_input(file)
    with pytest.raises(BadMessage):
        load_rows(tmp_path / "missing.json")
    with pytest.raises(InvalidParameter, match="at least 3"):
        run_member(2, 0, 11400, [1, 2], [1, 2])
    with pytest.raises(InvalidParameter, match="index"):
        run_member(3, 3, 11400, [1, 2], [1, 2])
    with pytest.raises(InvalidParameter, match="gaps"):
        member_input({1: [(1, 1)]}, 0)
    assert "mpyc" not in sys.modules


def test_users_need_neither_numpy_nor_mpyc() -> None:
    modules = "deniable.studies.joint.protocol.committee, deniable.cli.joint"
    code = f"import sys, {modules}; print({{'numpy', 'mpyc', 'numba'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


@pytest.mark.slow
@needs_mpyc
def test_a_member_without_the_others_gives_up(tmp_path: Path) -> None:
    file = tmp_path / "in.json"
    file.write_text(json.dumps({"keys": ["1", "2"], "masks": ["1", "1"]}))
    options = ["--index", "0", "--base-port", str(free_ports(3)), "--timeout", "2"]
    command = [
        sys.executable,
        "-m",
        "deniable",
        "joint",
        "committee",
        *options,
        "--input",
        str(file),
        "--output",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "gone or too slow" in done.stderr
    assert not (tmp_path / "out").exists()
