// Public hash functions: the report is the function's number and a bucket, or one sign of a sketch.

import { bitCount } from "../integers.js";
import { must } from "./fields.js";

const SEEDS = 2 ** 32;

/** A 32-bit hash of a 32-bit value under a 32-bit seed; fixed by the format. */
export function mix(seed, value) {
  let h = (seed + Math.imul(value, 0x9e3779b1)) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d) >>> 0;
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b) >>> 0;
  return (h ^ (h >>> 16)) >>> 0;
}

/** A 32-bit hash of a 64-bit word: its high half, then its low half. */
export function wideMix(key, word) {
  return mix(mix(key, Number(word >> 32n)), Number(word & 0xffffffffn));
}

/** Outputs are seed * buckets + bucket; for every seed, the value's own bucket is favoured. */
function bucketed(inputs, buckets, hash) {
  const bucket = (seed, index) => Math.floor((hash(seed, index) * buckets) / SEEDS);
  return {
    inputs,
    outputs: BigInt(SEEDS) * BigInt(buckets),
    members: BigInt(SEEDS),
    others: BigInt(SEEDS) * BigInt(buckets - 1),
    inside: (index, j) => BigInt(Number(j) * buckets + bucket(Number(j), index)),
    outside: (index, j) => {
      const other = Number(j) % (buckets - 1);
      const seed = (Number(j) - other) / (buckets - 1);
      return BigInt(seed * buckets + ((bucket(seed, index) + 1 + other) % buckets));
    },
  };
}

export function hashing(fields) {
  const size = fields.count("size", 2, SEEDS);
  const buckets = fields.count("buckets", 2, 1 << 16);
  return bucketed(BigInt(size), buckets, (seed, index) => mix(seed, Number(index)));
}

function prefix(fields) {
  const bits = fields.count("bits", 1, 64);
  const kept = fields.count("kept", 1, bits);
  return [1n << BigInt(bits), (word) => word >> BigInt(bits - kept), kept];
}

export function wideHashing(fields) {
  const [words, kept] = prefix(fields);
  const buckets = fields.count("buckets", 2, 1 << 16);
  return bucketed(words, buckets, (key, word) => wideMix(key, kept(word)));
}

/** One sign of a Count-Sketch in Hadamard coordinates. */
export function sketchSigns(fields) {
  const [words, kept, length] = prefix(fields);
  const rowBits = fields.count("row_bits", 0, 6);
  const widthBits = fields.count("width_bits", 1, 24);
  const salt = fields.count("salt", 0, SEEDS - 1);
  const start = mix(mix(salt, length), 0x5eed); // another key for every salt and every length of prefix
  must(rowBits + widthBits <= 30, "a sketch has at most 2**30 cells");
  const half = 1n << BigInt(rowBits + widthBits);
  const bit = (index, at) => {
    const row = Math.floor(at / 2 ** widthBits);
    const found = wideMix(mix(start, row), kept(index));
    const cell = found >>> (32 - widthBits);
    return (bitCount(BigInt((at % 2 ** widthBits) & cell)) & 1) ^ (found & 1);
  };
  return {
    inputs: words,
    outputs: 2n * half,
    members: half,
    others: half,
    inside: (index, j) => 2n * j + BigInt(bit(index, Number(j))),
    outside: (index, j) => 2n * j + 1n - BigInt(bit(index, Number(j))),
  };
}
