// A kept answer with fresh noise around it: two layers whose product is exactly the survey's own channel.

import { NotTrusted } from "./errors.js";
import { allows } from "./exponential.js";
import { Fraction, fractionFromText } from "./fraction.js";

const KEPT = /^kept:([1-9]\d{0,8}(?:\/[1-9]\d{0,8})?)$/;
const UNIT = 1n << 30n;

/** The level of the kept answer, as in "kept:2"; null for other ways of repeating. */
export function permanentOf(repeat) {
  const found = typeof repeat === "string" ? KEPT.exec(repeat) : null;
  const level = found && fractionFromText(found[1]);
  return level && `${level}` === found[1] ? level : null;
}

/** The largest high weight beside `UNIT` that a level allows. */
function floorOf(level) {
  let [least, most] = [UNIT, UNIT];
  while (allows(level, new Fraction(most, UNIT))) most *= 2n;
  while (least < most) {
    const middle = (least + most + 1n) / 2n;
    if (allows(level, new Fraction(middle, UNIT))) least = middle;
    else most = middle - 1n;
  }
  return least;
}

/**
 * The ratios of what is drawn once for every value, and of what is drawn around it in every window. With F and R the ratios of
 * the first layer and of the survey's channel, on k values, the second has (R (F + k - 2) - (k - 1)) / (F - R).
 */
export function layersOf({ document, channel }) {
  const { kind, set } = document.channel;
  if (kind !== "two-level" || set !== "singleton") throw new NotTrusted("a kept answer needs a channel that reports one of the values");
  const size = new Fraction(BigInt(channel.inputs));
  const single = channel.ratio();
  const first = new Fraction(floorOf(permanentOf(document.repeat)), UNIT);
  if (first.compare(single) <= 0) throw new NotTrusted("the level of the kept answer is not above that of one report");
  const [one, two] = [new Fraction(1n), new Fraction(2n)];
  const around = single.times(first.plus(size).minus(two)).minus(size.minus(one)).over(first.minus(single));
  if (around.compare(one) <= 0) throw new NotTrusted("epsilon is too small for a kept answer of this level");
  return [first, around];
}

/** One of `size` values: `index` with the weight of the ratio, each of the others, counted on from it, with weight one. */
export function drawAround({ numerator, denominator }, size, index, coins) {
  const drawn = coins.below(numerator + (size - 1n) * denominator);
  if (drawn < numerator) return index;
  return (index + 1n + (drawn - numerator) / denominator) % size;
}
