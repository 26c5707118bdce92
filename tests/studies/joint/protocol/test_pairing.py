"""From joint bytes to pairs: fair, the same for everyone, and quick."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from deniable.errors import InvalidParameter
from deniable.privacy import goodness_of_fit
from deniable.studies import pair_users
from deniable.studies.joint.protocol import permutation as _module
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.permutation import permutation, words


def key(number: int) -> bytes:
    return tagged_hash("test", number.to_bytes(8, "big"))


def test_every_permutation_is_equally_likely() -> None:
    """False alarm: less than 1e-6; fixed keys."""
    seen = Counter(tuple(permutation(key(number), 4)) for number in range(600))
    orders = list(itertools.permutations(range(4)))
    assert goodness_of_fit([seen[order] for order in orders], [1] * 24) > 1e-9


def test_the_permutation_never_changes() -> None:
    """Everyone must compute the same one, in every release."""
    assert permutation(bytes(32), 10) == [1, 2, 8, 4, 5, 0, 6, 9, 3, 7]
    assert sorted(permutation(key(1), 1000)) == list(range(1000))
    assert permutation(key(1), 0) == []
    assert permutation(key(1), 1) == [0]


def test_words_that_would_bias_are_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    # 2**64 leaves remainder 1 modulo 3, so the largest word would favour 0.
    monkeypatch.setattr(_module, "words", lambda _: iter([2**64 - 1, 2**64 - 2, 0]))
    expected = [0, 1, 2]
    place = (2**64 - 2) % 3
    expected[2], expected[place] = expected[place], expected[2]
    expected[1], expected[0] = expected[0], expected[1]
    assert permutation(bytes(32), 3) == expected


def test_the_stream_is_shake_256() -> None:
    import hashlib

    block = hashlib.shake_256(b"deniable permutation 1" + key(2) + bytes(8)).digest(8)
    assert next(words(key(2))) == int.from_bytes(block, "little")


def test_neighbours_are_paired_and_the_odd_one_is_alone() -> None:
    names = [f"user{number}" for number in range(9)]
    pairing = pair_users(key(3), names)
    assert pairing == pair_users(key(3), names[::-1])
    assert len(pairing.pairs) == 4
    flat = [name for pair in pairing.pairs for name in pair]
    assert sorted([*flat, pairing.alone or ""]) == names
    for one, other in pairing.pairs:
        assert pairing.partner(one) == other
        assert pairing.partner(other) == one
    assert pairing.partner(pairing.alone or "") is None
    assert pair_users(key(3), names[:8]).alone is None


def test_bad_users_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="differ"):
        pair_users(key(0), ["ada", "ada"])
    with pytest.raises(InvalidParameter, match="not among"):
        pair_users(key(0), ["ada", "bob"]).partner("eve")
    with pytest.raises(InvalidParameter, match="32 bytes"):
        permutation(b"short", 4)
    with pytest.raises(InvalidParameter, match="size"):
        permutation(bytes(32), -1)


def test_excluding_somebody_undoes_his_pair_only() -> None:
    names = [f"u{number}" for number in range(9)]
    before = pair_users(bytes(32), names)
    (liar, victim), (one, other), *rest = before.pairs
    after = before.without({liar})
    assert after.pairs == before.pairs[1:]
    assert (after.left, after.alone) == ((victim,), before.alone)
    assert after.partner(victim) is None
    with pytest.raises(InvalidParameter, match="not among"):
        after.partner(liar)
    both = before.without({one, other, str(before.alone)})
    assert both.pairs == ((liar, victim), *rest)
    assert (both.left, both.alone) == ((), None)
