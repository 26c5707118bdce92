// A few items out of many, and a few keys with a number each.

import { InvalidParameter } from "../errors.js";
import { indexOfSet, setCount } from "../channels/padded.js";
import { countOf, fieldsOf, refused } from "./base.js";
import { categories } from "./listed.js";
import { interval, pointOf } from "./numbers.js";

const MOST_HELD = 64;

/** At most `at_most` of the items; a value is a list that names every item once. */
export function itemSet(recipe) {
  const [listed, given] = fieldsOf(recipe, "items", "at_most");
  if (typeof listed !== "object" || listed === null || listed.kind !== "categories") throw new InvalidParameter("the items of an item-set are categories");
  const items = categories(listed);
  if (items.size > 65536n) throw new InvalidParameter("there may be at most 65536 items");
  const count = Number(items.size);
  const most = countOf("at_most", given, 1, Math.min(count, MOST_HELD));
  /** The numbers of the items, in growing order. */
  const numbers = (value) => {
    const rule = `the value must be a list of at most ${most} different items`;
    if (!Array.isArray(value) || value.length > most) throw refused(rule);
    let found;
    try {
      found = value.map((item) => Number(items.encode(item)));
    } catch {
      found = null;
    }
    if (found === null || new Set(found).size < found.length) throw refused(rule);
    return found.sort((a, b) => a - b);
  };
  return {
    kind: "item-set",
    labels: items.labels,
    items: count,
    most,
    size: setCount(count, most, 1n),
    numbers,
    encode: (value) => indexOfSet(count, most, 1n, numbers(value), numbers(value).map(() => 0n)),
  };
}

/** A few keys with a number each; a value is an object from keys to numbers. */
export function keyValue(recipe) {
  const [listed, given] = fieldsOf(recipe, "keys", "values");
  if (listed?.kind !== "item-set" || given?.kind !== "interval") throw new InvalidParameter("a key-value has an item-set of keys and an interval of values");
  const [keys, values] = [itemSet(listed), interval(given)];
  const steps = BigInt(given.cells);
  const levels = steps + 1n;
  return {
    kind: "key-value",
    labels: keys.labels,
    items: keys.items,
    most: keys.most,
    values,
    size: setCount(keys.items, keys.most, levels),
    encode(value) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused("the value must be an object from keys to numbers");
      const named = Object.keys(value);
      const numbers = keys.numbers(keys.labels === null ? named.map((key) => (/^\d{1,9}$/.test(key) ? Number(key) : key)) : named);
      const points = numbers.map((number) => pointOf(values.position(value[keys.labels === null ? number : keys.labels[number]]), steps));
      return indexOfSet(keys.items, keys.most, levels, numbers, points);
    },
  };
}
