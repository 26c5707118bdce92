"""What a privacy level means, in plain words and as a bet."""

from __future__ import annotations

import math

from deniable.core import hiding
from deniable.errors import InvalidParameter


def posterior(prior: float, epsilon: float) -> tuple[float, float]:
    """Between what and what a belief of `prior` can move when one report is seen.

    >>> tuple(round(p, 3) for p in posterior(0.5, 1))
    (0.269, 0.731)
    """
    if not 0 < prior < 1 or not epsilon >= 0:
        raise InvalidParameter("prior must lie between 0 and 1, and epsilon must not be negative")
    odds = prior / (1 - prior)
    low, high = odds * math.exp(-epsilon), odds * math.exp(epsilon)
    return low / (1 + low), high / (1 + high)


def guess_right(epsilon: float, delta: float = 0.0) -> float:
    """How often the best guess between two equally likely answers can be right.

    >>> round(guess_right(1), 3)
    0.731
    """
    if not epsilon >= 0 or not 0 <= delta <= 1:
        raise InvalidParameter("epsilon must not be negative, and delta must lie between 0 and 1")
    best = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon)) if epsilon < 700 else 1.0
    return min(best, 1.0)


def bits_learned(epsilon: float) -> float:
    """The most bits of information one report can carry about the answer, whoever looks and whatever the answers' shares.

    The largest over shares a of max_a [a E ε / (1 + a (E-1)) - ln(1 + a (E-1))], in bits; about ε**2 / 8 nats when ε is small.

    >>> round(bits_learned(1), 3), bits_learned(0.1) < 0.1**2 / 8 / math.log(2) * 1.01
    (0.178, True)
    """
    if not 0 < epsilon <= 100:
        raise InvalidParameter("epsilon must lie between 0 and 100")
    e = math.exp(epsilon)

    def carried(a: float) -> float:
        return a * e * epsilon / (1 + a * (e - 1)) - math.log1p(a * (e - 1))

    low, high = 0.0, 1.0
    for _ in range(200):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if carried(first) < carried(second):
            low = first
        else:
            high = second
    return carried((low + high) / 2) / math.log(2)


def in_words(epsilon: float, delta: float = 0.0) -> list[str]:
    """Sentences a person can use.

    >>> in_words(1)[0], in_words(100)[0]
    ('One report leaves the answer well hidden.', 'One report leaves the answer practically disclosed.')
    """
    low, high = posterior(0.5, epsilon)
    times, right = math.exp(epsilon), 100 * guess_right(epsilon, delta)
    sentences = [
        f"One report leaves the answer {hiding(epsilon)}.",
        f"Whatever an observer believed before, one report changes the odds between two answers at most {times:.4g} times.",
        f"A belief of 50 % in one of two answers can become {100 * low:.1f} % to {100 * high:.1f} %, but no further.",
        f"The best guess between two equally likely answers is right at most {right:.1f} % of the time.",
    ]
    if epsilon <= 100:
        sentences.append(f"One report carries at most {bits_learned(epsilon):.3g} bits about the answer.")
    if delta:
        sentences.append(f"This may fail altogether with probability {delta:g}.")
    return sentences
