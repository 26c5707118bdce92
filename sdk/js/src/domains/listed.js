// Yes or no, one of several, one of the listed places, and words of bits.

import { InvalidParameter } from "../errors.js";
import { exactly } from "../fraction.js";
import { countOf, fieldsOf, pairFromText, refused } from "./base.js";

/** Yes or no. */
export function binary(recipe) {
  fieldsOf(recipe);
  return {
    kind: "binary",
    size: 2n,
    encode(value) {
      if (value === true || value === 1 || value === 1n) return 1n;
      if (value === false || value === 0 || value === 0n) return 0n;
      throw refused("the value must be true, false, 1 or 0");
    },
  };
}

function wholeNumber(value) {
  if (typeof value === "bigint") return value;
  return Number.isSafeInteger(value) ? BigInt(value) : null;
}

function numbered(kind, size, more) {
  return {
    kind,
    size,
    ...more,
    encode(value) {
      const found = wholeNumber(value);
      if (found === null || found < 0n || found >= size) throw refused(`the value must be a whole number from 0 to ${size - 1n}`);
      return found;
    },
  };
}

/** One of k values, by number or by name. */
export function categories(recipe) {
  if (!("labels" in recipe)) return numbered("categories", BigInt(countOf("size", fieldsOf(recipe, "size")[0], 2, 2 ** 31)), { labels: null });
  const [labels] = fieldsOf(recipe, "labels");
  const places = new Map(Array.isArray(labels) ? labels.map((label, i) => [label, BigInt(i)]) : []);
  if (places.size < 2 || places.size !== labels.length || labels.some((label) => typeof label !== "string")) {
    throw new InvalidParameter("labels must be at least two different names");
  }
  return {
    kind: "categories",
    size: BigInt(labels.length),
    labels,
    encode(value) {
      const found = typeof value === "string" ? places.get(value) : undefined;
      if (found === undefined) throw refused("the value is not one of the names");
      return found;
    },
  };
}

/** Whole numbers of so many bits. */
export function wholeNumbers(recipe) {
  const bits = countOf("bits", fieldsOf(recipe, "bits")[0], 1, 64);
  return numbered("whole", 1n << BigInt(bits), { bits });
}

const HALF_PAIR = /[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/;

/** Short texts: their bytes of UTF-8, filled up with zeros, as one big-endian number. */
export function text(recipe) {
  const length = countOf("length", fieldsOf(recipe, "length")[0], 1, 8);
  return {
    kind: "text",
    length,
    size: 1n << BigInt(8 * length),
    encode(value) {
      if (typeof value !== "string" || HALF_PAIR.test(value)) throw refused("the value must be text");
      const bytes = new TextEncoder().encode(value);
      if (bytes.length > length || bytes.includes(0)) throw refused(`the value must have at most ${length} bytes of UTF-8 and no NUL`);
      let found = 0n;
      for (let i = 0; i < length; i++) found = (found << 8n) | BigInt(bytes[i] ?? 0);
      return found;
    },
  };
}

/** One of the listed places. */
export function points(recipe) {
  const [given] = fieldsOf(recipe, "places");
  if (!Array.isArray(given) || given.length < 2) throw new InvalidParameter("there must be at least two places");
  const places = given.map((place) => pairFromText("a place", place));
  const index = new Map(places.map((place, i) => [place.join(" "), BigInt(i)]));
  if (index.size !== places.length) throw new InvalidParameter("the places must differ");
  places.forEach((place, i) => {
    // The nearest doubles of a place are accepted, too: no double is exactly 1/10.
    const near = place.map((part) => exactly(part.toNumber())).join(" ");
    if (!index.has(near)) index.set(near, BigInt(i));
  });
  return {
    kind: "points",
    places: places.map((place) => place.map((part) => part.toNumber())),
    size: BigInt(places.length),
    encode(value) {
      const pair = Array.isArray(value) && value.length === 2 ? value.map(exactly) : [null];
      const found = pair.includes(null) ? undefined : index.get(pair.join(" "));
      if (found === undefined) throw refused("the value is not one of the places");
      return found;
    },
  };
}
