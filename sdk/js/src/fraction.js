// Exact rationals: a double, a ratio in text or a whole number becomes exactly that number.

import { InvalidParameter } from "./errors.js";
import { bitLength, floorDiv, gcd } from "./integers.js";

/** numerator / denominator in lowest terms, denominator > 0. Never changes. */
export class Fraction {
  constructor(numerator, denominator = 1n) {
    if (denominator === 0n) throw new InvalidParameter("a fraction's denominator must not be 0");
    if (denominator < 0n) [numerator, denominator] = [-numerator, -denominator];
    const common = gcd(numerator < 0n ? -numerator : numerator, denominator) || 1n;
    this.numerator = numerator / common;
    this.denominator = denominator / common;
    Object.freeze(this);
  }

  plus(other) {
    return new Fraction(this.numerator * other.denominator + other.numerator * this.denominator, this.denominator * other.denominator);
  }

  minus(other) {
    return this.plus(new Fraction(-other.numerator, other.denominator));
  }

  times(other) {
    return new Fraction(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  over(other) {
    return new Fraction(this.numerator * other.denominator, this.denominator * other.numerator);
  }

  /** -1, 0 or 1. */
  compare(other) {
    const left = this.numerator * other.denominator;
    const right = other.numerator * this.denominator;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  equals(other) {
    return this.numerator === other.numerator && this.denominator === other.denominator;
  }

  floor() {
    return floorDiv(this.numerator, this.denominator);
  }

  /** The nearest double, ties to even: what Python's float() gives. Never used in a draw. */
  toNumber() {
    const top = this.numerator < 0n ? -this.numerator : this.numerator;
    if (top === 0n) return 0;
    let exponent = Math.max(bitLength(top) - bitLength(this.denominator) - 53, -1074);
    let [kept, twiceRest, unit] = scaled(top, this.denominator, exponent);
    if (kept >= 1n << 53n) [kept, twiceRest, unit] = scaled(top, this.denominator, ++exponent);
    if (twiceRest > unit || (twiceRest === unit && kept & 1n)) kept += 1n;
    // 2**exponent by halves: the whole of it may be beyond what a double holds.
    const half = Math.trunc(exponent / 2);
    const size = exponent < 0 ? Number(kept) * 2 ** exponent : Number(kept) * 2 ** half * 2 ** (exponent - half);
    return this.numerator < 0n ? -size : size;
  }

  toString() {
    return this.denominator === 1n ? `${this.numerator}` : `${this.numerator}/${this.denominator}`;
  }
}

/** floor(top / bottom / 2**exponent), twice the rest, and the unit of the rest. */
function scaled(top, bottom, exponent) {
  const above = exponent < 0 ? top << BigInt(-exponent) : top;
  const below = exponent > 0 ? bottom << BigInt(exponent) : bottom;
  return [above / below, 2n * (above % below), below];
}

export const ZERO = new Fraction(0n);
export const ONE = new Fraction(1n);
export const HALF = new Fraction(1n, 2n);

/** A whole number as a fraction. */
export function whole(n) {
  return new Fraction(BigInt(n));
}

/** The exact value of a finite number or BigInt; null for everything else, so that no error can show it. */
export function exactly(value) {
  if (typeof value === "bigint") return new Fraction(value);
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  if (Number.isInteger(value)) return new Fraction(BigInt(value));
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const mantissa = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4)) | (exponent ? 1n << 52n : 0n);
  const shift = BigInt((exponent || 1) - 1075);
  const sized = shift < 0n ? new Fraction(mantissa, 1n << -shift) : new Fraction(mantissa << shift);
  return value < 0 ? new Fraction(-sized.numerator, sized.denominator) : sized;
}

const RATIO = /^(-?\d{1,400})(?:\/(\d{1,400}))?$/;
const DECIMAL = /^(-?)(\d{0,200})\.(\d{1,200})$/;

/** A ratio or a decimal in text, as surveys write their numbers: "3/2", "0.1", "-4". */
export function fractionFromText(text) {
  const ratio = typeof text === "string" ? RATIO.exec(text) : null;
  if (ratio && !/^0+$/.test(ratio[2] ?? "1")) return new Fraction(BigInt(ratio[1]), BigInt(ratio[2] ?? 1));
  const decimal = typeof text === "string" ? DECIMAL.exec(text) : null;
  if (!decimal) throw new InvalidParameter('a number must be text such as "3/2"');
  const unit = 10n ** BigInt(decimal[3].length);
  const size = BigInt(decimal[2] || 0) * unit + BigInt(decimal[3]);
  return new Fraction(decimal[1] ? -size : size, unit);
}
