"""Powers modulo an odd number: by gmpy2 where it is installed, else by the OpenSSL that Python's hashlib brings, else by Python.

The first two take the same time for every exponent of a length, so the time says nothing about a secret one. Python's own `pow`
does not, and takes about ten times as long.
"""

from __future__ import annotations

import ctypes
from typing import Protocol


class Power(Protocol):
    """What raises numbers to a power."""

    def __call__(self, base: int, exponent: int, modulus: int, /) -> int:
        """Give base ** exponent % modulus."""
        ...


def gmp_power() -> Power | None:
    """The powers of gmpy2, or None where it is not installed."""
    try:
        from gmpy2 import powmod_sec
    except ImportError:
        return None

    def power(base: int, exponent: int, modulus: int, /) -> int:
        return int(powmod_sec(base, exponent, modulus))

    return power


_POINTER, _BYTES, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "BN_CTX_new": (_POINTER, []),
    "BN_CTX_free": (None, [_POINTER]),
    "BN_new": (_POINTER, []),
    "BN_clear_free": (None, [_POINTER]),
    "BN_bin2bn": (_POINTER, [_BYTES, _INT, _POINTER]),
    "BN_bn2binpad": (_INT, [_POINTER, _BYTES, _INT]),
    "BN_mod_exp_mont_consttime": (_INT, [_POINTER] * 6),
}


def openssl_power() -> Power | None:
    """The powers of the OpenSSL that hashlib is linked to, or None where it cannot be reached (Windows, a Python without it)."""
    try:
        import _hashlib

        library = ctypes.CDLL(_hashlib.__file__)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (ImportError, AttributeError, OSError):
        return None

    def number(value: int) -> int | None:
        data = value.to_bytes(-(-value.bit_length() // 8), "big")
        made: int | None = library.BN_bin2bn(data, len(data), None)
        return made

    def power(base: int, exponent: int, modulus: int, /) -> int:
        size = -(-modulus.bit_length() // 8)
        context = library.BN_CTX_new()
        numbers = [library.BN_new(), number(base), number(exponent), number(modulus)]
        try:
            result = ctypes.create_string_buffer(size)
            # A null pointer would be followed: memory that ran out must not look like a number.
            if context is None or None in numbers or library.BN_mod_exp_mont_consttime(*numbers, context, None) != 1:
                raise MemoryError
            library.BN_bn2binpad(numbers[0], result, size)
            return int.from_bytes(result.raw, "big")
        finally:
            for one in numbers:
                library.BN_clear_free(one)
            library.BN_CTX_free(context)

    return power


def fastest_power() -> Power:
    """The best of the three that is here and computes rightly."""
    base, exponent, modulus = 3**500, 5**300, 7**400
    for candidate in (gmp_power(), openssl_power()):
        if candidate is not None and candidate(base, exponent, modulus) == pow(base, exponent, modulus):
            return candidate
    return pow
