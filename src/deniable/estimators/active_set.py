"""Quadratic programs over shares: the kernels that follow how far a sum of shares can go.

For shares p >= 0 that add up to 1, with Q(p) = p'Hp - 2 b'p + c, `furthest` maximises a'p under Q(p) <= limit. It solves
min Q/2 - t a'p for rising t, keeping the few shares above 0 from one t to the next; on those Q is a parabola in t, which
says the t to try next. What it returns is the bound that t and p prove by weak duality, so it is never too small: Q is
convex, so (b - Hp)'(q - p) >= (Q(p) - limit)/2 wherever Q(q) <= limit, and a'q <= max over x of (a + (b - Hp)/t)_x minus that.

H is RR' for a matrix of `roots`, a row per point. Few points ever have a share, so a row of H is worked out when its point
is taken in; `ready` says which rows are there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

RIDGE = 1e-13
LOOSE = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be added up in any order; infinities keep their meaning."""
MOST_STEPS = 4000
MOST_CHOSEN = 160
"""Points that may have a share beside those that had one at the start."""
MOST_TRIES = 60
NEARNESS = 5e-3
"""Of the distance from the middle: how near the end is looked for; the bound holds however near that is."""


@njit(nogil=True, cache=True)
def put(source, target):  # type: ignore[no-untyped-def]
    """target[: len(source)] = source, as a loop: the assignment takes seconds to compile, for a message about unequal lengths."""
    for i in range(len(source)):
        target[i] = source[i]


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _solved(matrix, chosen, count, known, right, factor, solution):  # type: ignore[no-untyped-def]
    """solution = (matrix on the chosen)**-1 right, for several right sides, by Cholesky; False when it is not positive.

    The first `known` rows of the factor are right already.
    """
    for i in range(known, count):
        for j in range(i + 1):
            total = matrix[chosen[i], chosen[j]]
            if i == j:
                total *= 1.0 + RIDGE
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if total <= matrix[chosen[i], chosen[i]] * 1e-15:
                    return False
                factor[i, i] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    for side in range(right.shape[0]):
        for i in range(count):
            total = right[side, i]
            for k in range(i):
                total -= factor[i, k] * solution[side, k]
            solution[side, i] = total / factor[i, i]
        # Backwards by rows, which lie side by side.
        for i in range(count - 1, -1, -1):
            share = solution[side, i] / factor[i, i]
            solution[side, i] = share
            for k in range(i):
                solution[side, k] -= factor[i, k] * share
    return True


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _take_out(factor, place, count):  # type: ignore[no-untyped-def]
    """The factor without one of its points: its row goes, and rotations of neighbouring columns make it triangular again."""
    for i in range(place, count - 1):
        for k in range(i + 2):
            factor[i, k] = factor[i + 1, k]
    for i in range(place, count - 1):
        length = np.hypot(factor[i, i], factor[i, i + 1])
        cosine, sine = factor[i, i] / length, factor[i, i + 1] / length
        factor[i, i] = length
        for k in range(i + 1, count - 1):
            left, right = factor[k, i], factor[k, i + 1]
            factor[k, i] = cosine * left + sine * right
            factor[k, i + 1] = cosine * right - sine * left


@njit(nogil=True, cache=True, fastmath=LOOSE)
def _work_out(roots, matrix, ready, x):  # type: ignore[no-untyped-def]
    """The row of a point, if it is not there yet."""
    if ready[x]:
        return
    for y in range(roots.shape[0]):
        total = 0.0
        for group in range(roots.shape[1]):
            total += roots[x, group] * roots[y, group]
        matrix[x, y] = total
    ready[x] = True


@njit(nogil=True, cache=True, fastmath=LOOSE)
def least(roots, matrix, ready, scores, weights, tilt, slack, chosen, shares, count, slope, moving):  # type: ignore[no-untyped-def]
    """Minimise p'Hp/2 - (scores + tilt weights)'p from the given shares of the chosen, in place; returns how many are above 0.

    A point that would gain less than `slack` is not taken in. `slope` becomes scores - H p, `moving` how the chosen
    shares change with tilt.
    """
    size = len(scores)
    most = len(chosen)
    factor = np.empty((most, most))
    right = np.empty((3, most))
    solution = np.empty((3, most))
    known = 0
    several = True
    previous = np.inf
    barred = np.zeros(size, np.bool_)
    for i in range(count):
        _work_out(roots, matrix, ready, chosen[i])
    for _ in range(MOST_STEPS):
        # The best shares on the chosen points, as far as they stay above 0.
        while True:
            for i in range(count):
                right[0, i] = scores[chosen[i]] + tilt * weights[chosen[i]]
                right[1, i] = 1.0
                right[2, i] = weights[chosen[i]]
            if not _solved(matrix, chosen, count, known, right, factor, solution):
                known = min(known, count - 1)
                # The newest point looks like a mixture of others: without it.
                count -= 1
                barred[chosen[count]] = True
                if count == 0:
                    return 0
                total = 0.0
                for i in range(count):
                    total += shares[i]
                for i in range(count):
                    shares[i] /= total
                continue
            known = count
            ones = 0.0
            excess = -1.0
            drift = 0.0
            for i in range(count):
                ones += solution[1, i]
                excess += solution[0, i]
                drift += solution[2, i]
            level = excess / ones
            step = 1.0
            blocking = -1
            for i in range(count):
                goal = solution[0, i] - level * solution[1, i]
                if goal <= 0.0:
                    part = shares[i] / (shares[i] - goal) if shares[i] > goal else 0.0
                    if part < step:
                        step = part
                        blocking = i
            for i in range(count):
                goal = solution[0, i] - level * solution[1, i]
                shares[i] += step * (goal - shares[i])
                moving[i] = solution[2, i] - drift / ones * solution[1, i]
            if blocking < 0:
                break
            _take_out(factor, blocking, count)
            known = count - 1
            for i in range(blocking, count - 1):
                chosen[i] = chosen[i + 1]
                shares[i] = shares[i + 1]
            count -= 1
            for i in range(count):
                shares[i] = max(shares[i], 0.0)
        put(scores, slope)
        for i in range(count):
            row = matrix[chosen[i]]
            share = shares[i]
            for x in range(size):
                slope[x] -= share * row[x]
        # The points that gain most, if any do: of every stretch of them the best, as long as that helps.
        best, place = 0.0, -1
        scale = 0.0
        value = 0.0
        for i in range(count):
            scale = max(scale, abs(scores[chosen[i]]) + abs(tilt * weights[chosen[i]]))
            value -= shares[i] * (scores[chosen[i]] + slope[chosen[i]] + 2 * tilt * weights[chosen[i]]) / 2
        several = several and value < previous
        previous = value
        enough = max(slack, 1e-13 * scale)
        for x in range(size):
            gain = slope[x] + tilt * weights[x] - level
            if gain > best and not barred[x]:
                best, place = gain, x
        if place < 0 or best <= enough or count == most:
            return count
        before = count
        for x in range(size):
            gain = slope[x] + tilt * weights[x] - level
            peak = x == place
            if several and not peak and gain > 0.3 * best and gain > enough:
                left = slope[x - 1] + tilt * weights[x - 1] - level if x > 0 else -np.inf
                right_gain = slope[x + 1] + tilt * weights[x + 1] - level if x + 1 < size else -np.inf
                peak = gain > left and gain >= right_gain
            if peak and not barred[x] and count < most:
                inside = False
                for i in range(before):
                    if chosen[i] == x:
                        inside = True
                if inside:
                    barred[x] = True
                    continue
                _work_out(roots, matrix, ready, x)
                chosen[count] = x
                shares[count] = 0.0
                count += 1
    return count


@njit(nogil=True, cache=True, fastmath=LOOSE)
def furthest(  # type: ignore[no-untyped-def]
    roots, matrix, ready, scores, constant, weights, limit, middle, start, start_shares, start_tilt
):
    """An upper bound of weights'p over the plausible shares; and the points, the shares and the tilt it was reached with."""
    size = len(scores)
    most = min(size, len(start) + MOST_CHOSEN)
    chosen = np.zeros(most, np.int64)
    shares = np.zeros(most)
    moving = np.zeros(most)
    slope = np.empty(size)
    count = len(start)
    put(start, chosen)
    put(start_shares, shares)
    top = weights.max()
    spread = top - weights.min()
    if spread <= 0:
        return top, chosen[:count].copy(), shares[:count].copy(), 0.0
    tilt = start_tilt if start_tilt > 0 else limit / spread
    low, high = 0.0, np.inf
    bound = top
    width = spread
    kept_count = count
    kept, kept_shares, kept_tilt = chosen.copy(), shares.copy(), tilt
    for _ in range(MOST_TRIES):
        count = least(roots, matrix, ready, scores, weights, tilt, NEARNESS * width * tilt, chosen, shares, count, slope, moving)
        if count == 0:
            break
        reached = constant
        inner = 0.0
        speed = 0.0
        sums = 0.0
        for i in range(count):
            x = chosen[i]
            reached -= shares[i] * (scores[x] + slope[x])
            inner += shares[i] * slope[x]
            speed += weights[x] * moving[i]
            sums += shares[i] * weights[x]
        peak = -np.inf
        for x in range(size):
            peak = max(peak, weights[x] + slope[x] / tilt)
        # Q is convex: slope'q >= slope'p + (Q(p) - limit)/2 wherever Q(q) <= limit.
        proven = peak - (inner + (reached - limit) / 2) / tilt
        if proven < bound:
            bound = proven
        kept_count = count
        put(chosen, kept)
        put(shares, kept_shares)
        kept_tilt = tilt
        width = min(max(min(bound, proven) - middle, NEARNESS * NEARNESS * spread), spread)
        if abs(proven - sums) <= 3 * NEARNESS * width:
            break
        if reached <= limit:
            low = tilt
        else:
            high = tilt
        at_rest = reached - tilt * tilt * speed
        then = 0.0 if reached > limit else np.inf
        if speed > 0 and limit > at_rest:
            then = np.sqrt((limit - at_rest) / speed)
        if not (low < then < high):
            if high == np.inf:
                then = tilt * 8.0
            elif low == 0.0:
                then = high / 8.0
            else:
                then = np.sqrt(low * high)
        if high == np.inf and then > 1e12 * max(limit, 1e-300) / spread:
            break
        if abs(then - tilt) <= NEARNESS * tilt:
            break
        tilt = then
    return bound, kept[:kept_count].copy(), kept_shares[:kept_count].copy(), kept_tilt
