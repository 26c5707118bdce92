// Bounded numbers, and numbers that wrap around. A double counts at face value, so no rounding moves it across a boundary.

import { InvalidParameter } from "../errors.js";
import { Fraction, HALF, ONE, ZERO, exactly, fractionFromText, whole } from "../fraction.js";
import { MOST_CELLS, countOf, fieldsOf, refused } from "./base.js";

/** The cell of a position in [0, 1] out of `count` equal cells; the last one includes the upper end. */
export function cellOf(position, count) {
  const found = position.times(whole(count)).floor();
  return found < count ? found : count - 1n;
}

/** The nearest of count + 1 equally spaced points, both ends included. */
export function pointOf(position, count) {
  const found = position.times(whole(count)).plus(HALF).floor();
  return found < count ? found : count;
}

/** The numbers from low to high, both included. */
export function interval(recipe) {
  const [lowText, highText, cells] = fieldsOf(recipe, "low", "high", "cells");
  const [low, high] = [fractionFromText(lowText), fractionFromText(highText)];
  if (low.compare(high) >= 0) throw new InvalidParameter("low must lie below high");
  const width = high.minus(low);
  const count = BigInt(countOf("cells", cells, 2, MOST_CELLS));
  return {
    kind: "interval",
    low,
    high,
    cells: count,
    size: count,
    /** How far through the interval an exact number lies; null when it is outside. */
    share: (exact) => (exact.compare(low) < 0 || exact.compare(high) > 0 ? null : exact.minus(low).over(width)),
    position(value) {
      const exact = exactly(value);
      const found = exact && this.share(exact);
      if (!found) throw refused(`the value must be a number from ${low} to ${high}`);
      return found;
    },
    encode(value) {
      return cellOf(this.position(value), count);
    },
    /** The double in the middle of a cell. */
    middle: (cell) => low.plus(width.times(new Fraction(2n * cell + 1n, 2n * count))).toNumber(),
  };
}

/** The numbers from 0 to period, where period is 0 again. */
export function circle(recipe) {
  const [periodText, cells] = fieldsOf(recipe, "period", "cells");
  const period = fractionFromText(periodText);
  if (period.compare(ZERO) <= 0) throw new InvalidParameter("period must be positive");
  const count = BigInt(countOf("cells", cells, 2, MOST_CELLS));
  return {
    kind: "circle",
    period,
    cells: count,
    size: count,
    share(exact) {
      if (exact.compare(ZERO) < 0 || exact.compare(period) > 0) return null;
      const found = exact.over(period);
      return found.compare(ONE) < 0 ? found : ZERO;
    },
    position(value) {
      const exact = exactly(value);
      const found = exact && this.share(exact);
      if (!found) throw refused("the value must be a number from 0 to the period of the circle");
      return found;
    },
    encode(value) {
      return cellOf(this.position(value), count);
    },
  };
}
