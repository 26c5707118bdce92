// Channels made of channels: side by side, chosen by a coin, entered between inputs, one after another.

import { Fraction } from "../fraction.js";
import { accumulate, bisectRight, digits, lcm, undigits } from "../integers.js";
import { must } from "./fields.js";
import { checkLength, product, productOfRatios } from "./work.js";

const ratiosOf = (parts) => parts.map((part) => part.ratio());

/** Several channels side by side, each with its own randomness. */
export function productOf(fields, build) {
  const parts = fields.list("parts").map(build);
  const inputs = parts.map((part) => part.inputs);
  const outputs = parts.map((part) => part.outputs);
  return {
    parts,
    inputs: product(inputs),
    outputs: product(outputs),
    draw: (index, coins) => undigits(digits(index, inputs).map((digit, j) => parts[j].draw(digit, coins)), outputs),
    ratio: () => productOfRatios(ratiosOf(parts)),
  };
}

/** A coin that does not see the input chooses the channel; the output says which one it was. */
export function mixture(fields, build) {
  const parts = fields.list("parts").map(build);
  const shares = fields.integers("shares", 1n);
  must(parts.length === shares.length, "a mixture needs one share for each part");
  must(parts.every((part) => part.inputs === parts[0].inputs), "the channels of a mixture need equal inputs");
  const ends = accumulate(shares);
  const outputEnds = accumulate(parts.map((part) => part.outputs));
  return {
    parts,
    inputs: parts[0].inputs,
    outputs: outputEnds.at(-1),
    draw(index, coins) {
      const j = bisectRight(ends, coins.below(ends.at(-1)));
      return (j ? outputEnds[j - 1] : 0n) + parts[j].draw(index, coins);
    },
    ratio() {
      const ratios = ratiosOf(parts);
      return ratios.includes(null) ? null : ratios.reduce((a, b) => (a.compare(b) < 0 ? b : a));
    },
  };
}

/** A channel entered between two neighbouring inputs: rounded to one of them at random. */
export function interpolated(fields, build) {
  const inner = build(fields.take("inner"));
  const steps = fields.integer("steps", 1n);
  return {
    inner,
    inputs: (inner.inputs - 1n) * steps + 1n,
    outputs: inner.outputs,
    draw: (index, coins) => inner.draw(index / steps + (coins.below(steps) < index % steps ? 1n : 0n), coins),
    ratio: () => inner.ratio(), // a mixture of rows cannot exceed the rows' own
  };
}

/** A channel that reads one digit of a record. */
export function field(fields, build) {
  const sizes = fields.integers("sizes", 1n);
  const place = fields.count("place", 0, sizes.length - 1);
  const inner = build(fields.take("inner"));
  must(inner.inputs === sizes[place], "the inner channel must take the digit");
  return {
    inner,
    place,
    inputs: product(sizes),
    outputs: inner.outputs,
    draw: (index, coins) => inner.draw(digits(index, sizes)[place], coins),
    ratio: () => inner.ratio(),
  };
}

/** A channel that reads some digits of a record as one number. */
export function severalDigits(fields, build) {
  const sizes = fields.integers("sizes", 1n);
  const places = fields.integers("places", 0n).map(Number);
  const inner = build(fields.take("inner"));
  must(places.length > 0 && places.every((place, j) => place < sizes.length && (!j || place > places[j - 1])), "places must be some of the digits, in their order");
  const kept = places.map((place) => sizes[place]);
  must(inner.inputs === product(kept), "the inner channel must take the digits at the places, as one number");
  return {
    inner,
    places,
    sizes,
    inputs: product(sizes),
    outputs: inner.outputs,
    draw(index, coins) {
      const each = digits(index, sizes);
      return inner.draw(undigits(places.map((place) => each[place]), kept), coins);
    },
    ratio: () => inner.ratio(),
  };
}

/** A hidden coin picks the one digit that is answered; every other digit is uniform. */
export function fakeData(fields, build) {
  const compiled = fields.list("parts");
  must(compiled.every((part) => part?.kind === "two-level" && part.set === "singleton"), "fake data stands beside randomized response");
  const parts = compiled.map(build);
  const sizes = parts.map((part) => part.inputs);
  return {
    parts,
    inputs: product(sizes),
    outputs: product(sizes),
    draw(index, coins) {
      const chosen = coins.below(BigInt(parts.length));
      // An answer and a fake for every digit, so that the time does not say which one was answered.
      const found = digits(index, sizes).map((digit, place) => {
        const answer = parts[place].draw(digit, coins);
        const fake = coins.below(sizes[place]);
        return BigInt(place) === chosen ? answer : fake;
      });
      return undigits(found, sizes);
    },
    ratio() {
      checkLength(parts.map((part) => part.total));
      const common = lcm(parts.map((part) => part.total));
      const added = (name) => parts.reduce((sum, part) => sum + part[name] * part.inputs * (common / part.total), 0n);
      return new Fraction(added("high"), added("low"));
    },
  };
}

/** One channel after another. What the first one hides stays hidden, and what the second one hides, too. */
export function chain(fields, build) {
  const [first, second] = ["first", "second"].map((name) => build(fields.take(name)));
  must(first.outputs === second.inputs, "the second channel of a chain must take the first one's outputs");
  return {
    inputs: first.inputs,
    outputs: second.outputs,
    draw: (index, coins) => second.draw(first.draw(index, coins), coins),
    ratio() {
      const [a, b] = [first.ratio(), second.ratio()];
      return a === null ? b : b === null || a.compare(b) < 0 ? a : b;
    },
  };
}

/** The output is the input: no privacy at all, so no survey may use it by itself. */
export function identity(fields) {
  const size = fields.integer("size", 1n);
  return { identity: true, inputs: size, outputs: size, draw: (index) => index, ratio: () => null };
}

/** Two people who answer together. */
export function pair(fields) {
  const [both, one, neither] = ["both", "one", "neither"].map((name) => fields.integer(name, 0n));
  must(both + one > 0n && one + neither > 0n, "each one of a pair must sometimes tell the truth and sometimes lie");
  const ends = [both, both + one, both + 2n * one, both + 2n * one + neither];
  const least = [both, one, neither].reduce((a, b) => (a < b ? a : b));
  const most = [both, one, neither].reduce((a, b) => (a > b ? a : b));
  return {
    inputs: 4n,
    outputs: 4n,
    draw: (index, coins) => index ^ BigInt(bisectRight(ends, coins.below(ends[3]))), // 0 both true, 1 second lies, 2 first lies, 3 both lie
    ratio: () => (least === 0n ? null : new Fraction(most, least)),
  };
}
