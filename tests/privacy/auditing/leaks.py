"""Programs whose reports look random and hold the value: in a bit, a remainder, a checksum, a length, an order, a counter.

Values are 0 and 1. Every maker gets its coins, so that a run can be repeated.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import uuid
import zlib
from collections.abc import Callable
from itertools import combinations
from random import Random
from typing import Any

Program = Callable[[int], Any]
Maker = Callable[[Random], Program]

LEAKS: dict[str, Maker] = {}
NAMED: list[str] = []
"""The ones that every quick run tries."""


def leak(maker: Maker) -> Maker:
    LEAKS[maker.__name__] = maker
    return maker


def named(maker: Maker) -> Maker:
    NAMED.append(maker.__name__)
    return leak(maker)


def noisy(coins: Random, value: int) -> int:
    """Randomized response at epsilon 1."""
    return value ^ (coins.random() < 0.2689)


def word(coins: Random, bits: int, value: int) -> int:
    """Random bits, the last of them the value."""
    return coins.getrandbits(bits - 1) << 1 | value


def until(draw: Callable[[], Any], holds: Callable[[Any], bool], value: int) -> Any:
    """Draw again until the property is the value."""
    while True:
        found = draw()
        if holds(found) == bool(value):
            return found


@named
def seed_and_bucket(coins: Random) -> Program:
    return lambda value: [word(coins, 32, value), coins.randrange(4)]


@named
def nonce_integer(coins: Random) -> Program:
    return lambda value: word(coins, 128, value)


@named
def nonce_hex(coins: Random) -> Program:
    return lambda value: f"{word(coins, 128, value):032x}"


@named
def nonce_bytes(coins: Random) -> Program:
    return lambda value: word(coins, 128, value).to_bytes(16, "big")


@named
def nonce_base64(coins: Random) -> Program:
    return lambda value: base64.b64encode(word(coins, 128, value).to_bytes(16, "big")).decode()


@named
def nonce_beside_a_randomized_bit(coins: Random) -> Program:
    return lambda value: {"nonce": f"{word(coins, 128, value):032x}", "bit": noisy(coins, value)}


@named
def parity_of_two_words(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        first, second = coins.getrandbits(64), coins.getrandbits(64)
        return [first, second ^ (1 << 17 if ((first ^ second).bit_count() & 1) != value else 0)]

    return draw


@named
def lowest_bits_of_two_words(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        first = coins.getrandbits(64)
        return [first, word(coins, 64, first & 1 ^ value)]

    return draw


@named
def sum_of_bytes(coins: Random) -> Program:
    def draw(value: int) -> bytes:
        payload = coins.randbytes(15)
        return payload + bytes([(sum(payload) + value) % 256])

    return draw


@named
def crc_of_payload_and_value(coins: Random) -> Program:
    def draw(value: int) -> dict[str, Any]:
        payload = coins.randbytes(12)
        return {"payload": payload.hex(), "check": zlib.crc32(payload + bytes([value]))}

    return draw


@named
def counter_that_skips(coins: Random) -> Program:
    state = [0]

    def draw(value: int) -> list[int]:
        state[0] += 1 + value
        return [noisy(coins, value), state[0]]

    return draw


@named
def counter_that_skips_afterwards(coins: Random) -> Program:
    state = [0]

    def draw(value: int) -> list[int]:
        seen = state[0]
        state[0] += 1 + value
        return [noisy(coins, value), seen]

    return draw


@named
def counter_per_value(coins: Random) -> Program:
    state = [0, 0]

    def draw(value: int) -> list[int]:
        state[value] += 1
        return [noisy(coins, value), state[value]]

    return draw


@named
def twins_in_turn(coins: Random) -> Program:
    """Two workers with the same randomness, asked in turn."""
    common, turn = coins.getrandbits(64), [0]
    workers = [Random(common), Random(common)]

    def draw(value: int) -> list[int]:
        turn[0] += 1
        own = workers[turn[0] % 2]
        return [own.getrandbits(64), noisy(own, value)]

    return draw


@leak
def value_of_the_call_before(coins: Random) -> Program:
    state = [0]

    def draw(value: int) -> list[int]:
        before, state[0] = state[0], value
        return [word(coins, 64, before), noisy(coins, value)]

    return draw


@leak
def a_bit_in_the_middle(coins: Random) -> Program:
    return lambda value: (coins.getrandbits(128) & ~(1 << 69) | value << 69).to_bytes(16, "big")


@leak
def a_bit_of_a_long_field(coins: Random) -> Program:
    def draw(value: int) -> bytes:
        payload = bytearray(coins.randbytes(700))
        payload[433] = payload[433] & ~4 | value << 2
        return bytes(payload)

    return draw


@leak
def nested_field(coins: Random) -> Program:
    return lambda value: {"a": {"b": [1, {"n": word(coins, 128, value)}]}, "c": noisy(coins, value)}


@leak
def modulo_three(coins: Random) -> Program:
    return lambda value: until(lambda: coins.getrandbits(128), lambda x: x % 3 == 0, value)


@leak
def modulo_five_in_hex(coins: Random) -> Program:
    return lambda value: f"{until(lambda: coins.getrandbits(128), lambda x: x % 5 == 0, value):032x}"


@leak
def parity_of_set_bits(coins: Random) -> Program:
    return lambda value: until(lambda: coins.getrandbits(128), lambda x: x.bit_count() % 2 == 1, value).to_bytes(16, "big")


@leak
def first_and_last_byte(coins: Random) -> Program:
    def draw(value: int) -> str:
        payload = bytearray(coins.randbytes(16))
        payload[-1] = payload[-1] & 254 | (payload[0] ^ value) & 1
        return payload.hex()

    return draw


@leak
def three_bits(coins: Random) -> Program:
    def draw(value: int) -> str:
        payload = bytearray(coins.randbytes(16))
        payload[3] = payload[3] & 254 | (payload[0] >> 3 ^ payload[9] >> 5 ^ value) & 1
        return base64.urlsafe_b64encode(payload).decode().rstrip("=")

    return draw


@leak
def masked_by_another_field(coins: Random) -> Program:
    def draw(value: int) -> dict[str, int]:
        mask = coins.getrandbits(1)
        return {"nonce": word(coins, 64, mask), "bit": mask ^ value}

    return draw


@leak
def masked_by_the_length(coins: Random) -> Program:
    def draw(value: int) -> bytes:
        size = 8 + coins.randrange(4)
        return word(coins, 8 * size, value ^ size & 1).to_bytes(size, "big")

    return draw


@leak
def weighted_checksum(coins: Random) -> Program:
    def draw(value: int) -> bytes:
        payload = coins.randbytes(16)
        return payload + bytes([(payload[0] + 3 * payload[7] + 2 * value) % 256])

    return draw


@leak
def checksum_modulo_a_prime(coins: Random) -> Program:
    def draw(value: int) -> list[Any]:
        payload = coins.randbytes(16)
        return [payload, zlib.adler32(payload + bytes([value]))]

    return draw


@leak
def next_of_a_generator(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        first = coins.getrandbits(64)
        return [first, (first * 6364136223846793005 + 1442695040888963407 + 2 * value) % 2**64]

    return draw


@leak
def capital_letters(coins: Random) -> Program:
    return lambda value: f"{coins.getrandbits(128):032X}" if value else f"{coins.getrandbits(128):032x}"


@leak
def number_of_digits(coins: Random) -> Program:
    return lambda value: coins.randrange(10 ** (17 + value), 10 ** (18 + value))


@leak
def first_digit(coins: Random) -> Program:
    return lambda value: int(f"{1 + value + coins.randrange(3)}{coins.randrange(10**15):015d}")


@leak
def sum_of_digits(coins: Random) -> Program:
    return lambda value: until(lambda: coins.randrange(10**16), lambda x: sum(map(int, str(x))) % 2 == 1, value)


@leak
def order_of_keys(coins: Random) -> Program:
    def draw(value: int) -> dict[str, int]:
        fields = {"seed": coins.getrandbits(64), "version": 1}
        return dict(reversed(fields.items())) if value else fields

    return draw


@leak
def order_of_numbers(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        return sorted((coins.getrandbits(64), coins.getrandbits(64)), reverse=bool(value))

    return draw


@leak
def parity_of_a_permutation(coins: Random) -> Program:
    def odd(row: list[int]) -> bool:
        return sum(a > b for a, b in combinations(row, 2)) % 2 == 1

    return lambda value: until(lambda: coins.sample(range(1 << 30), 5), odd, value)


@leak
def trailing_space(coins: Random) -> Program:
    return lambda value: f"{coins.getrandbits(64):016x}" + " " * value


@leak
def length_of_bytes(coins: Random) -> Program:
    return lambda value: coins.randbytes(8 + 2 * coins.randrange(4) + value)


@leak
def sign_of_zero(coins: Random) -> Program:
    return lambda value: coins.choice([-0.0 if value else 0.0, 1.5, 2.5])


@leak
def payload_of_not_a_number(coins: Random) -> Program:
    return lambda value: struct.unpack(">d", struct.pack(">Q", 0x7FF8000000000000 | word(coins, 20, value)))[0]


@leak
def digits_of_a_float(coins: Random) -> Program:
    return lambda value: round(coins.random(), 14) if value else coins.random()


@leak
def spare_bits_of_base64(coins: Random) -> Program:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def draw(value: int) -> str:
        text = base64.b64encode(coins.randbytes(16)).decode()
        return text[:21] + letters[letters.index(text[21]) | value] + "=="

    return draw


@leak
def a_bit_of_a_uuid(coins: Random) -> Program:
    return lambda value: str(uuid.UUID(int=coins.getrandbits(128) & ~(1 << 37) | value << 37, version=4))


@leak
def type_of_the_report(coins: Random) -> Program:
    return lambda value: float(coins.randrange(1 << 40)) if value else coins.randrange(1 << 40)


@leak
def several_bits_together(coins: Random) -> Program:
    return lambda value: until(lambda: coins.getrandbits(64), lambda x: x & 1 and x >> 20 & 1 and x >> 40 & 1, value)


SUBTLE: dict[str, Maker] = {}
"""Found with twenty thousand draws: over all reports nothing shows, or only to who knows a recipe."""


def subtle(maker: Maker) -> Maker:
    SUBTLE[maker.__name__] = maker
    return maker


@subtle
def one_worker_of_eight(coins: Random) -> Program:
    def draw(value: int) -> dict[str, str]:
        worker, nonce = coins.randrange(8), coins.getrandbits(64)
        return {"worker": f"host-{worker}", "nonce": f"{word(coins, 64, value) if worker == 3 else nonce:016x}"}

    return draw


@subtle
def one_worker_beside_a_randomized_bit(coins: Random) -> Program:
    def draw(value: int) -> dict[str, int]:
        worker, nonce = coins.randrange(20), coins.getrandbits(128)
        return {"worker": worker, "nonce": nonce & ~(1 << 70) | value << 70 if worker == 3 else nonce, "bit": noisy(coins, value)}

    return draw


@subtle
def the_bit_that_another_field_names(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        place = coins.randrange(64)
        return [place, coins.getrandbits(64) & ~(1 << place) | value << place]

    return draw


@subtle
def every_tenth_report(coins: Random) -> Program:
    calls = [0]

    def draw(value: int) -> int:
        calls[0] += 1
        return word(coins, 64, value) if calls[0] % 10 == 0 else coins.getrandbits(64)

    return draw


def _later(coins: Random, reports: int) -> Program:
    waiting = [0] * reports

    def draw(value: int) -> int:
        waiting.append(value)
        return word(coins, 64, waiting.pop(0))

    return draw


@subtle
def told_two_reports_later(coins: Random) -> Program:
    return _later(coins, 2)


@subtle
def told_ten_reports_later(coins: Random) -> Program:
    return _later(coins, 10)


@subtle
def shared_out_over_two_reports(coins: Random) -> Program:
    share = [0]

    def draw(value: int) -> int:
        report = word(coins, 64, share[0])
        share[0] = report >> 7 & 1 ^ value
        return report

    return draw


@subtle
def shared_out_over_three_reports(coins: Random) -> Program:
    share = [0, 0]

    def draw(value: int) -> int:
        report = word(coins, 64, share[0])
        share[:] = [share[1] ^ report >> 9 & 1, report >> 7 & 1 ^ value]
        return report

    return draw


@subtle
def a_running_sum(coins: Random) -> Program:
    total = [0]

    def draw(value: int) -> int:
        total[0] += value
        return coins.getrandbits(61) * 7 + total[0] % 7

    return draw


@subtle
def sum_of_two_fields(coins: Random) -> Program:
    def draw(value: int) -> list[int]:
        first = coins.randrange(10**9)
        return [first, until(lambda: coins.randrange(10**9), lambda second: (first + second) % 10 < 5, value)]

    return draw


@subtle
def how_often_a_letter_comes(coins: Random) -> Program:
    return lambda value: until(lambda: f"{coins.getrandbits(128):032x}", lambda text: text.count("a") % 2 == 1, value)


@subtle
def last_bit_in_base85(coins: Random) -> Program:
    return lambda value: base64.b85encode(word(coins, 128, value).to_bytes(16, "big")).decode()


@subtle
def middle_bit_in_ascii85(coins: Random) -> Program:
    return lambda value: base64.a85encode((coins.getrandbits(128) & ~(1 << 70) | value << 70).to_bytes(16, "big")).decode()


@subtle
def two_bits_in_base58(coins: Random) -> Program:
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

    def draw(value: int) -> str:
        number = coins.getrandbits(128)
        number = number & ~(1 << 40) | (number >> 90 & 1 ^ value) << 40
        return "".join(alphabet[number // 58**place % 58] for place in range(21, -1, -1))

    return draw


@subtle
def a_hash_of_nonce_and_value(coins: Random) -> Program:
    def draw(value: int) -> dict[str, str]:
        nonce = coins.randbytes(16).hex()
        return {"nonce": nonce, "tag": hashlib.md5(f"{value}:{nonce}".encode(), usedforsecurity=False).hexdigest()[:8]}

    return draw


@subtle
def a_mac_under_a_guessable_key(coins: Random) -> Program:
    def draw(value: int) -> dict[str, str]:
        nonce = coins.randbytes(16)
        return {"nonce": nonce.hex(), "mac": hmac.digest(b"secret", nonce + bytes([value]), "sha256").hex()}

    return draw


@subtle
def a_nonce_whose_hash_says_the_value(coins: Random) -> Program:
    def odd(nonce: int) -> bool:
        return hashlib.sha256(nonce.to_bytes(4, "big")).digest()[0] % 2 == 1

    return lambda value: [until(lambda: coins.getrandbits(32), odd, value), coins.randrange(4)]


@subtle
def a_nonce_whose_hash_ends_with_the_value(coins: Random) -> Program:
    def odd(nonce: int) -> bool:
        return hashlib.sha512(b"%d" % nonce).digest()[-1] % 2 == 1

    return lambda value: [until(lambda: coins.getrandbits(64), odd, value), coins.randrange(4)]


@subtle
def the_remainder_of_a_hash(coins: Random) -> Program:
    def divisible(nonce: int) -> bool:
        return int(hashlib.sha256(b"%d" % nonce).hexdigest(), 16) % 3 == 0

    return lambda value: until(lambda: coins.getrandbits(64), divisible, value)


@subtle
def the_checksum_of_a_nonce(coins: Random) -> Program:
    return lambda value: until(lambda: f"{coins.getrandbits(64):016x}", lambda nonce: zlib.crc32(nonce.encode()) % 2 == 1, value)


@subtle
def a_number_in_a_line_of_words(coins: Random) -> Program:
    def draw(value: int) -> str:
        before = ",".join(str(coins.getrandbits(coins.randrange(5, 30))) for _ in range(3))
        after = coins.getrandbits(coins.randrange(5, 30))
        return f"{before},{coins.getrandbits(20) & ~8 | value << 3};{after}"

    return draw


HONEST: dict[str, Maker] = {
    "nonce": lambda coins: lambda value: f"{coins.getrandbits(128):032x}",
    "nonce beside a randomized bit": lambda coins: lambda value: [coins.getrandbits(128), noisy(coins, value)],
    "checksum of the payload": lambda coins: lambda value: _checked(coins.randbytes(15)),
    "uuid": lambda coins: lambda value: str(uuid.UUID(int=coins.getrandbits(128), version=4)),
    "hash of the nonce": lambda coins: lambda value: _hashed(coins.randbytes(16)),
    "worker beside a nonce": lambda coins: lambda value: [coins.randrange(8), coins.getrandbits(64)],
    "float": lambda coins: lambda value: coins.random(),
    "words of one generator": lambda coins: lambda value: {"a": coins.getrandbits(64), "b": [coins.getrandbits(32), "x"]},
}


def _checked(payload: bytes) -> bytes:
    return payload + bytes([sum(payload) % 256])


def _hashed(nonce: bytes) -> list[str]:
    return [nonce.hex(), hashlib.sha256(nonce).hexdigest()]
