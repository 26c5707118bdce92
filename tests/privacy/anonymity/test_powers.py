"""Powers modulo a number: every way that is here agrees with Python's own."""

from __future__ import annotations

import random
import sys
import threading

import pytest

from deniable.privacy.anonymity import blind_rsa
from deniable.privacy.anonymity.powers import Power, fastest_power, gmp_power, openssl_power

WAYS = {name: way for name, way in (("gmpy2", gmp_power()), ("OpenSSL", openssl_power())) if way is not None}


@pytest.mark.parametrize("power", WAYS.values(), ids=WAYS.keys())
def test_powers_are_pythons(power: Power) -> None:
    draw = random.Random(7)
    for bits in (8, 64, 1024, 2048):
        for _ in range(20):
            modulus = draw.getrandbits(bits) | 1 | 1 << (bits - 1)
            base, exponent = draw.randrange(modulus), draw.randrange(1, modulus)
            assert power(base, exponent, modulus) == pow(base, exponent, modulus)
        assert power(0, 5, modulus) == 0
        assert power(modulus - 1, 2, modulus) == 1
        assert power(1, modulus - 2, modulus) == 1


@pytest.mark.parametrize("power", WAYS.values(), ids=WAYS.keys())
def test_threads_do_not_disturb_each_other(power: Power) -> None:
    modulus = (1 << 521) - 1
    right, wrong = [pow(3 + number, modulus // 3, modulus) for number in range(40)], list[int]()

    def work() -> None:
        wrong.extend(number for number in range(40) if power(3 + number, modulus // 3, modulus) != right[number])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_gmpy2_and_openssl_python_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    monkeypatch.setitem(sys.modules, "_hashlib", None)
    assert gmp_power() is None
    assert openssl_power() is None
    assert fastest_power() is pow


def test_a_library_that_computes_wrongly_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.privacy.anonymity.powers.gmp_power", lambda: lambda base, exponent, modulus: 1)
    monkeypatch.setattr("deniable.privacy.anonymity.powers.openssl_power", lambda: None)
    assert fastest_power() is pow


def test_signatures_are_the_same_whoever_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.privacy.anonymity.test_blind_rsa import signer

    hidden = signer().public.blind(b"message").data
    signed = signer().sign(hidden)
    monkeypatch.setattr(blind_rsa, "_power", pow)
    assert signer().sign(hidden) == signed
