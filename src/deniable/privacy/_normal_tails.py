"""Gaussian noise's delta, bounded from above at any scale: decimals with as many digits as the subtraction takes away."""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

DIGITS = 50
"""Beyond those that are lost where two nearly equal tails are subtracted."""
UNSURE = 15
"""Of them, the last ones that the rounding of some ten thousand operations could have touched."""
FAR = 40
"""Beyond so many standard deviations a tail is below every positive floating-point number."""
LEAST = math.nextafter(0.0, 1.0)


def delta_bound(sigma: Fraction, epsilon: Fraction, width: Fraction) -> float:
    """The least float that is certainly not below Phi(a - b) - e**epsilon Phi(-a - b), a = w/(2 s), b = e s/w.

    With c = b - a, d = b + a, the normal density f and Mills' ratio M(x) = Phi(-x)/f(x) it is f(c) (M(c) - M(d)), because
    e**epsilon f(d) = f(c). a, b, c and d are exact. Every operation on decimals is rounded correctly, so the error of
    the whole is a few last digits, and those are added.
    """
    a, b = width / (2 * sigma), epsilon * sigma / width
    c, d = b - a, b + a
    if c > FAR:
        return LEAST
    if c < -FAR:
        return 1.0
    digits = DIGITS + max(0, _magnitude(1 / a))
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        near = _mills(_decimal(abs(c)), digits)
        far = _mills(_decimal(d), digits)
        density = _density(_decimal(c), digits)
        exact, largest = (density * (near - far), density * near) if c >= 0 else (1 - density * (near + far), Decimal(1))
        return min(1.0, rounded_up(exact + largest.scaleb(UNSURE - digits)))


def rounded_up(number: Decimal | Fraction) -> float:
    """The least float that is not below a positive number."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= Fraction(number) else math.nextafter(nearest, math.inf)


def _mills(x: Decimal, digits: int) -> Decimal:
    """M(x) for x >= 0, to a relative 10**(5 - digits)."""
    return _mills_by_series(x, digits) if x * x < digits else _mills_by_fraction(x, digits)


def _mills_by_series(x: Decimal, digits: int) -> Decimal:
    """sqrt(pi/2) e**(x x/2) less the sum of x**(2k+1)/(1 3 5 … (2k+1)); both are about e**(x x/2), so more digits are taken."""
    more = digits + int(x * x) // 4 + 5
    with localcontext() as context:
        context.prec = more
        square = x * x
        term = total = x
        odd = 1
        while term > total.scaleb(-more):
            odd += 2
            term = term * square / odd
            total += term
        return (_pi(more) / 2).sqrt() * (square / 2).exp() - total


def _mills_by_fraction(x: Decimal, digits: int) -> Decimal:
    """1/(x + 1/(x + 2/(x + 3/(x + …)))): two neighbouring convergents have the value between them."""
    above, below = Decimal(0), Decimal(1)
    above_next, below_next = Decimal(1), x
    step = 0
    while True:
        step += 1
        above, above_next = above_next, x * above_next + step * above
        below, below_next = below_next, x * below_next + step * below
        one, other = above / below, above_next / below_next
        if abs(one - other) <= other.scaleb(2 - digits):
            return other


def _density(x: Decimal, digits: int) -> Decimal:
    return (-x * x / 2).exp() / (2 * _pi(digits)).sqrt()


@lru_cache(maxsize=64)
def _pi(digits: int) -> Decimal:
    """Machin: 16 arctan(1/5) - 4 arctan(1/239), in integers."""
    one = 10 ** (digits + 10)
    value = 16 * _arctan_of_inverse(5, one) - 4 * _arctan_of_inverse(239, one)
    with localcontext() as context:
        context.prec = digits + 5
        return Decimal(value) / Decimal(one)


def _arctan_of_inverse(n: int, one: int) -> int:
    power = total = one // n
    odd, sign = 1, 1
    while power:
        power //= n * n
        odd, sign = odd + 2, -sign
        total += sign * (power // odd)
    return total


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _magnitude(number: Fraction) -> int:
    """At least log10 of a positive number."""
    return math.ceil((number.numerator.bit_length() - number.denominator.bit_length() + 1) * 0.3010299957)
