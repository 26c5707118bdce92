// e**x between exact rationals, and the one question privacy asks: is a ratio at most e**epsilon?

import { InvalidParameter } from "./errors.js";
import { Fraction } from "./fraction.js";
import { bitLength } from "./integers.js";

const MOST_EPSILON = 100n;

/** Integers low and high with low <= e**x * 2**scale <= high, for a Fraction x >= 0; [low, high, scale]. */
export function expBounds(x, bits) {
  const { numerator, denominator } = x;
  if (numerator < 0n || numerator > MOST_EPSILON * denominator) throw new InvalidParameter("epsilon must lie between 0 and 100");
  const ceiling = (numerator + denominator - 1n) / denominator;
  const halvings = BigInt(bitLength(ceiling) + 4);
  // Squaring doubles the relative error each time; the series adds a little of its own.
  const scale = BigInt(bits) + 2n * halvings + 2n * ceiling + 16n;
  let [low, high] = series(numerator, denominator << halvings, scale);
  for (let i = 0n; i < halvings; i++) {
    low = (low * low) >> scale;
    high = ceilShift(high * high, scale);
  }
  return [low, high, scale];
}

/** The power series with directed rounding, for 0 <= numerator/denominator <= 1/16. */
function series(numerator, denominator, scale) {
  let lowTerm = 1n << scale;
  let highTerm = lowTerm;
  let low = lowTerm;
  let high = lowTerm;
  for (let n = 1n; highTerm > 1n; n++) {
    const divisor = denominator * n;
    lowTerm = (lowTerm * numerator) / divisor;
    highTerm = (highTerm * numerator + divisor - 1n) / divisor;
    low += lowTerm;
    high += highTerm;
  }
  // What is left is below the last term: every further one is at most 1/16 of the one before.
  return [low, high + highTerm + 1n];
}

function ceilShift(n, shift) {
  return (n + (1n << shift) - 1n) >> shift;
}

/** Is ratio <= e**epsilon? Decided exactly: the precision grows until the bounds agree. */
export function allows(epsilon, ratio) {
  if (epsilon.numerator === 0n) return ratio.numerator <= ratio.denominator;
  for (let bits = 64; ; bits *= 2) {
    const [low, high, scale] = expBounds(epsilon, bits);
    const scaled = ratio.numerator << scale;
    if (scaled <= low * ratio.denominator) return true;
    if (scaled >= high * ratio.denominator) return false;
  }
}

/** e**epsilon as a double, for words. */
export function expNumber(epsilon) {
  const [low, , scale] = expBounds(epsilon, 64);
  return new Fraction(low, 1n << scale).toNumber();
}
