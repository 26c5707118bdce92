// Sets of a few items, filled up with dummies so that every one holds equally many places.

import { Fraction } from "../fraction.js";
import { accumulate, combinations, undigits } from "../integers.js";
import { must } from "./fields.js";
import { unrank } from "./sets.js";
import { MOST_REPORT_BITS } from "./work.js";

const MOST_PLACES = 1 << 16;
const MOST_HELD = 64;
/** The same number as in the Python client: beyond it a report takes a phone too long to draw. */
const MOST_NAMED = 1 << 14;

/** How many sets of each size there are when every item in a set has one of `levels` values. */
function countsOf(items, most, levels) {
  return Array.from({ length: most + 1 }, (_, held) => combinations(BigInt(items), BigInt(held)) * levels ** BigInt(held));
}

/** The set of `chosen` out of `size` numbers at this place, in growing order. */
function membersOf(rank, size, chosen) {
  const members = [];
  let above = size;
  for (let place = chosen; place > 0; place--) {
    let [low, high] = [place - 1, above - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (combinations(BigInt(middle), BigInt(place)) <= rank) low = middle;
      else high = middle - 1;
    }
    members.unshift(low);
    rank -= combinations(BigInt(low), BigInt(place));
    above = low;
  }
  return members;
}

/** The number of a set whose members, in growing order, have these levels. */
export function indexOfSet(items, most, levels, members, levelsOf) {
  const counts = countsOf(items, most, levels);
  const start = counts.slice(0, members.length).reduce((a, b) => a + b, 0n);
  const rank = members.reduce((sum, member, place) => sum + combinations(BigInt(member), BigInt(place + 1)), 0n);
  return start + undigits([rank, ...levelsOf], [1n, ...levelsOf.map(() => levels)]);
}

/** How many such sets there are. */
export function setCount(items, most, levels) {
  return countsOf(items, most, levels).reduce((a, b) => a + b, 0n);
}

function padding(fields, levels) {
  const items = fields.count("items", 2, MOST_PLACES);
  const most = fields.count("at_most", 1, Math.min(items, MOST_HELD));
  const ends = accumulate(countsOf(items, most, levels));
  return {
    items,
    most,
    inputs: ends.at(-1),
    /** The held places, always `most` of them, each with its level. */
    held(index) {
      const size = ends.findIndex((end) => index < end);
      let rank = index - (size ? ends[size - 1] : 0n);
      const found = new Array(size);
      for (let place = size - 1; place >= 0; place--) [found[place], rank] = [rank % levels, rank / levels];
      const own = membersOf(rank, items, size).map((item, place) => [item, found[place]]);
      return [...own, ...Array.from({ length: most - size }, (_, dummy) => [items + dummy, 0n])];
    },
  };
}

/** Outputs are sets of `chosen` places; those that share one with the padded set are favoured. */
export function hitting(fields) {
  const levels = fields.has("levels") ? fields.count("levels", 2, MOST_NAMED) : 1;
  const { items, most, inputs, held } = padding(fields, BigInt(levels));
  // An item with one of several values has a place for each of them, before the dummies.
  const free = items * levels;
  const chosen = fields.count("chosen", 1, free);
  const places = free + most;
  must(places <= MOST_NAMED, `a report names some of at most ${MOST_NAMED} places`);
  const others = combinations(BigInt(free), BigInt(chosen));
  const number = (side, chosenOnes) => side.reduce((sum, place, j) => sum | (((chosenOnes >> BigInt(j)) & 1n) << BigInt(place)), 0n);
  const sides = (index) => {
    const own = held(index).map(([item, level]) => (item < items ? item * levels + Number(level) : free + item - items));
    return [own, Array.from({ length: places }, (_, place) => place).filter((place) => !own.includes(place))];
  };
  return {
    inputs,
    outputs: 1n << BigInt(places),
    members: combinations(BigInt(places), BigInt(chosen)) - others,
    others,
    inside(index, j) {
      const [own, rest] = sides(index);
      for (let shared = 1; ; shared++) {
        const without = combinations(BigInt(rest.length), BigInt(chosen - shared));
        const count = combinations(BigInt(most), BigInt(shared)) * without;
        if (j < count) return number(own, unrank(j / without, most, shared)) | number(rest, unrank(j % without, rest.length, chosen - shared));
        j -= count;
      }
    },
    outside(index, j) {
      const [, rest] = sides(index);
      return number(rest, unrank(j, rest.length, chosen));
    },
  };
}

/** One of the places of a padded set, picked by a hidden coin and reported by the inner channel. */
export function pickedItem(fields, build) {
  const levels = BigInt(fields.count("levels", 1, 2 ** 26 + 1));
  const { items, most, inputs, held } = padding(fields, levels);
  const compiled = fields.take("inner");
  const inner = build(compiled);
  const alone = compiled.kind === "two-level" && compiled.set === "singleton";
  must(alone || compiled.kind === "bits" || compiled.kind === "signed-bits", "the picked place is reported by randomized response or by bits");
  must(inner.inputs === BigInt(items + most) * (levels > 1n ? 2n : 1n), "the inner channel must take every place");
  const steps = levels > 1n ? 2n * (levels - 1n) : 1n;
  return {
    inputs,
    outputs: inner.outputs,
    draw(index, coins) {
      const places = held(index);
      const drawn = coins.below(BigInt(most) * steps);
      const [place, level] = places[Number(drawn / steps)];
      if (levels === 1n) return inner.draw(BigInt(place), coins);
      const pluses = place < items ? 2n * level : levels - 1n;
      return inner.draw(2n * BigInt(place) + (drawn % steps >= pluses ? 1n : 0n), coins);
    },
    ratio() {
      if (!alone) return inner.ratio();
      const others = BigInt(most - 1) * inner.low;
      return new Fraction(inner.high + others, BigInt(most) * inner.low);
    },
  };
}

/** For every key nothing, a plus or a minus; every key is drawn. */
export function signedBits(fields) {
  const keys = fields.count("keys", 2, MOST_REPORT_BITS / 2);
  const [agree, differ, other, scale] = ["agree", "differ", "other", "scale"].map((name) => fields.integer(name, 1n));
  must(differ <= agree && agree + differ < scale && 2n * other < scale, "the weights of signs must stay below the scale");
  return {
    inputs: 2n * BigInt(keys),
    outputs: 1n << BigInt(2 * keys),
    draw(index, coins) {
      const [own, minus] = [Number(index / 2n), index % 2n === 1n];
      let output = 0n;
      for (let key = 0; key < keys; key++) {
        const drawn = coins.below(scale);
        const [first, second] = key === own ? [agree, differ] : [other, other];
        let shown = drawn < first ? 1n : drawn < first + second ? 2n : 0n;
        if (key === own && minus && shown) shown = 3n - shown;
        output |= shown << BigInt(2 * key);
      }
      return output;
    },
    ratio() {
      const quotients = [new Fraction(agree, other), new Fraction(differ, other), new Fraction(scale - agree - differ, scale - 2n * other)];
      const [most, least] = [1, -1].map((sign) => quotients.reduce((a, b) => (sign * a.compare(b) >= 0 ? a : b)));
      return new Fraction(most.numerator * least.denominator, most.denominator * least.numerator);
    },
  };
}
