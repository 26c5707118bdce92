// How much a survey from outside may make a device compute. An honest question needs a thousandth of it.

import { Fraction } from "../fraction.js";
import { bitLength } from "../integers.js";
import { must } from "./fields.js";

/** A report of 32 kB takes a phone a second to draw; the same number as in the Python client. */
export const MOST_REPORT_BITS = 1 << 18;
/** Channels side by side and inside one another. */
export const MOST_CHANNELS = 1024;
/** Of a ratio above and below together: it is compared with e**epsilon to the last of them, if need be. */
const MOST_RATIO_BITS = 1 << 17;

/** The product of whole numbers; refused before it is computed when it would be too long for a report. */
export function product(numbers) {
  must(bitsOf(numbers) <= MOST_REPORT_BITS, "an answer or a report of this channel is too long: ask for fewer values");
  return multiplied(numbers);
}

/** The product of ratios, each a Fraction or null for one without a bound. */
export function productOfRatios(ratios) {
  if (ratios.includes(null)) return null;
  const [above, below] = [ratios.map(({ numerator }) => numerator), ratios.map(({ denominator }) => denominator)];
  must(bitsOf(above) + bitsOf(below) <= MOST_RATIO_BITS, "the weights of this channel are too long: use fewer parts or digits");
  return new Fraction(multiplied(above), multiplied(below)); // in lowest terms once, at the end
}

/** Refuse numbers that together are too long to compute with. */
export function checkLength(numbers) {
  must(bitsOf(numbers) <= MOST_REPORT_BITS, "the weights of this channel are too long: use fewer parts or digits");
}

function bitsOf(numbers) {
  return numbers.reduce((bits, number) => bits + bitLength(number), 0);
}

/** By halves: long numbers meet numbers of their own length. */
function multiplied(numbers) {
  if (numbers.length < 3) return numbers.reduce((a, b) => a * b, 1n);
  const half = numbers.length >> 1;
  return multiplied(numbers.slice(0, half)) * multiplied(numbers.slice(half));
}
