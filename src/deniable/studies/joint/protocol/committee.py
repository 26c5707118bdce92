"""A committee pairs users without learning the pairing: oblivious sort of secret keys, honest majority (MPyC).

    deniable joint committee --members 3 --index 0 --base-port 11400 \\
        --input member0.json --output rows0.json

One process for each member, on loopback; each reads its own shares and writes the public rows. The members learn the
rows: sorted random keys without names. While fewer than half of them pool what they have, nobody learns
who is paired with whom, except that each user knows their own partner. Members follow the protocol (semi-honest): one who sends
wrong shares can spoil the result, and MPyC does not notice. The processes run on one machine:
their links are not encrypted (MPyC's own `--ssl` is the start of a deployment across machines). Comparisons open
numbers masked statistically, to 2**-40.
With an odd number of users the last in the sorted order gets the number of users as partner: he answers alone.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from deniable._extras import required
from deniable.errors import BadMessage, InvalidParameter
from deniable.studies.joint.protocol.hidden_pairing import KEY_BITS, PRIME, BlindRow
from deniable.studies.joint.protocol.shares import threshold_for

MOST_USERS = 1 << 12


def load_input(path: Path) -> tuple[list[int], list[int]]:
    """One member's shares of keys and masks."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        keys, masks = ([int(text, 16) for text in document[name]] for name in ("keys", "masks"))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as broken:
        raise BadMessage("the input of a committee member is not well-formed") from broken
    if len(keys) != len(masks) or not 2 <= len(keys) <= MOST_USERS:
        raise BadMessage(f"the input must hold as many masks as keys, for 2 to {MOST_USERS} users")
    if not all(0 <= share < PRIME for share in keys + masks):
        raise BadMessage("a share is not in the field")
    return keys, masks


def load_rows(path: Path) -> list[BlindRow]:
    """The published rows."""
    try:
        return [BlindRow(int(key, 16), int(masked, 16)) for key, masked in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, RecursionError) as broken:
        raise BadMessage("the rows of a committee are not well-formed") from broken


async def _pair(mpc: Any, keys: list[int], masks: list[int]) -> list[BlindRow]:
    """Sort [key, number, mask] by key, all secret; open each key and, masked, the number beside it."""
    import numpy as np

    secint = mpc.SecInt(KEY_BITS + 2, p=PRIME)
    users = len(keys)
    # The numbers are public here and secret once sorted: a constant is a share of itself.
    table = np.array([keys, list(range(users)), masks], dtype=object)
    async with mpc:
        rows = secint.array(secint.field.array(table))
        rows = mpc.np_sort(rows, axis=-1, key=lambda part: part[0])
        sorted_keys, numbers, sorted_masks = rows[0], rows[1], rows[2]
        swap = [place ^ 1 if place ^ 1 < users else place for place in range(users)]
        partners = numbers[np.array(swap)]
        if users % 2:
            alone = secint.array(secint.field.array(np.array([users], dtype=object)))
            partners = mpc.np_concatenate((partners[:-1], alone))
        revealed = await mpc.output(sorted_keys)
        masked = await mpc.output(partners + sorted_masks)
    return [BlindRow(int(key), int(value) % PRIME) for key, value in zip(revealed, masked, strict=True)]


def run_member(members: int, index: int, base_port: int, keys: list[int], masks: list[int]) -> list[BlindRow]:
    """One member's process. MPyC reads its settings from the command line when imported, so it gets one."""
    threshold_for(members)
    if not 0 <= index < members:
        raise InvalidParameter("index must be from 0 to members - 1")
    if "mpyc.runtime" in sys.modules:
        raise InvalidParameter("mpyc is set up once for each process; run every member in a process of its own")
    before = sys.argv
    sys.argv = [before[0], f"-M{members}", f"-I{index}", f"-B{base_port}", "-K40", "--no-log", "--no-uvloop"]
    try:
        mpc = required("mpyc.runtime").mpc
    finally:
        sys.argv = before
    # MPyC would listen on every interface.
    mpc._loop.create_server = functools.partial(mpc._loop.create_server, host="127.0.0.1")
    rows: list[BlindRow] = mpc.run(_pair(mpc, keys, masks))
    if len({row.key for row in rows}) != len(rows):
        raise BadMessage("two users drew the same key; everyone must draw again")
    return rows


def _give_up() -> None:
    # MPyC waits for lost members without end, also when it is asked to stop.
    print("deniable: the other members are gone or too slow; nothing was written", file=sys.stderr, flush=True)
    os._exit(1)


def pair_within(seconds: float, members: int, index: int, base_port: int, keys: list[int], masks: list[int]) -> list[BlindRow]:
    """One member's process, which ends after so many seconds."""
    watch = threading.Timer(seconds, _give_up)
    watch.daemon = True
    watch.start()
    try:
        return run_member(members, index, base_port, keys, masks)
    finally:
        watch.cancel()


def save_rows(path: Path, rows: list[BlindRow]) -> None:
    """Write the published rows; `load_rows` reads them."""
    path.write_text(json.dumps([[hex(row.key), hex(row.masked_partner)] for row in rows]), encoding="utf-8")
