// Yes or no, one of several, one of the listed places, and words of bits.

import { InvalidParameter } from "../errors.js";
import { Fraction, exactly, fractionFromText } from "../fraction.js";
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

const DECIMALS = 12;

/** An edge as people write it: a decimal if a short one is exact, else a ratio, as in Python. */
function written(edge) {
  const unit = 10n ** BigInt(DECIMALS);
  const scaled = edge.times(new Fraction(unit));
  if (edge.denominator === 1n || scaled.denominator !== 1n) return String(edge);
  const size = scaled.numerator < 0n ? -scaled.numerator : scaled.numerator;
  const digits = String(size).padStart(DECIMALS + 1, "0");
  return `${edge.numerator < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS).replace(/0+$/, "")}`;
}

/** A number of which only the bin is asked, by the number or by the bin's name. */
export function bins(recipe) {
  const [given] = fieldsOf(recipe, "edges");
  if (!Array.isArray(given) || given.length < 3 || given.length > 2 ** 12 + 1) throw new InvalidParameter("bins have 3 to 4097 edges");
  const exact = given.map(fractionFromText);
  const edges = exact.map((edge) => edge.toNumber());
  if (edges.some((edge, i) => i && !(edges[i - 1] < edge))) throw new InvalidParameter("the edges of bins must increase");
  const labels = exact.slice(1).map((edge, i) => `${written(exact[i])} to ${written(edge)}`);
  const places = new Map(labels.map((label, i) => [label, BigInt(i)]));
  return {
    kind: "bins",
    size: BigInt(labels.length),
    edges,
    labels,
    encode(value) {
      if (typeof value === "string" && places.has(value)) return places.get(value);
      const number = typeof value === "bigint" ? Number(value) : value;
      if (typeof number !== "number" || !(number >= edges[0] && number <= edges.at(-1))) {
        throw refused("the value must be a number within the bins, or the name of a bin");
      }
      const above = edges.findIndex((edge) => edge > number);
      return BigInt((above < 0 ? labels.length : above) - 1);
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
