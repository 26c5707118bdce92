// Code words on a randomly rotated sphere, in whole numbers of 32 bits: the same ranking as in Python.

import { MOST_DIMENSIONS, UNIT, mostSquare } from "../domains/ball.js";
import { must } from "./fields.js";
import { mix } from "./hashing.js";

const FOLD_ROUND = 0xfffff;
const TRIED_PLACES = 4;
const MOST_LENGTH = 2 ** 46; // squared
const ALL = (1n << 128n) - 1n;

function keysOf(seed) {
  return [96n, 64n, 32n, 0n].map((shift) => Number((seed >> shift) & 0xffffffffn));
}

/** 32 public bits of a seed. */
function streamWord(keys, step, block) {
  return keys.reduce((value, key) => mix(key, value), (step * 4096 + block) >>> 0);
}

function sign(vector, keys, step) {
  for (let block = 0; block < vector.length / 32; block++) {
    const bits = streamWord(keys, step, block);
    for (let i = 0; i < 32; i++) if ((bits >>> i) & 1) vector[32 * block + i] = -vector[32 * block + i];
  }
}

/** The transform of Walsh and Hadamard, in place. */
function transform(vector) {
  for (let size = 1; size < vector.length; size *= 2) {
    for (let start = 0; start < vector.length; start += 2 * size) {
      for (let i = start; i < start + size; i++) {
        const [a, b] = [vector[i], vector[i + size]];
        vector[i] = a + b;
        vector[i + size] = a - b;
      }
    }
  }
}

/** The largest whole number whose square is at most this one. */
function root(square) {
  let found = Math.floor(Math.sqrt(square));
  while (found * found > square) found--;
  while ((found + 1) * (found + 1) <= square) found++;
  return found;
}

export function nearestCodes(fields) {
  const dimension = fields.count("dimension", 1, MOST_DIMENSIONS);
  const widthBits = fields.count("width_bits", 7, 13);
  const codeBits = fields.count("code_bits", 1, 16);
  const [width, codes] = [2 ** widthBits, 2 ** codeBits];
  const nearest = fields.count("nearest", 1, codes / 2);
  const simplex = codes <= width;
  const bases = simplex ? 1 : codes / (2 * width);
  const [words, favouredWords] = [BigInt(codes), BigInt(nearest)];
  must(widthBits === 13 || dimension <= width, "a rotation must be as wide as the vector, up to 8192");

  function foldPlace(keys, place) {
    const hashed = mix(streamWord(keys, FOLD_ROUND, place >>> 10), place & 1023);
    return [hashed >>> (32 - widthBits), hashed & 1];
  }

  /** The vector of an index, filled up to the radius by one more coordinate, and folded where it is too wide. */
  function prepared(index, keys) {
    const text = index.toString(16).padStart(8 * dimension, "0");
    const filled = Array.from({ length: dimension }, (_, place) => Number.parseInt(text.slice(8 * place, 8 * place + 8), 16) | 0);
    let square = 0;
    for (const step of filled) {
      square += step * step;
      if (square > mostSquare(dimension)) return new Int32Array(width); // no vector of the ball
    }
    const filling = root(Math.max(0, UNIT * UNIT - square));
    if (dimension < width) {
      const wide = new Int32Array(width);
      wide.set([...filled, filling]);
      return wide;
    }
    if (dimension === width) {
      // Every place is taken: the filling goes to the smallest coordinate of a few, which it disturbs least.
      let [where, negative] = foldPlace(keys, dimension);
      for (let tried = 1; tried < TRIED_PLACES; tried++) {
        const other = foldPlace(keys, dimension + tried);
        if (Math.abs(filled[other[0]]) < Math.abs(filled[where])) [where, negative] = other;
      }
      filled[where] += negative ? -filling : filling;
      return Int32Array.from(filled);
    }
    const folded = new Float64Array(width); // whole numbers of up to 53 bits
    [...filled, filling].forEach((step, place) => {
      const [where, negative] = foldPlace(keys, place);
      folded[where] += negative ? -step : step;
    });
    while (folded.reduce((sum, step) => sum + step * step, 0) >= MOST_LENGTH) {
      for (let i = 0; i < width; i++) folded[i] = Math.floor(folded[i] / 2);
    }
    return Int32Array.from(folded);
  }

  function scores(index, keys) {
    const vector = prepared(index, keys);
    for (const step of [0, 1]) {
      sign(vector, keys, step);
      transform(vector);
      for (let i = 0; i < width; i++) vector[i] >>= widthBits >> 1;
    }
    if (simplex) {
      sign(vector, keys, 2);
      transform(vector);
      return vector.subarray(0, codes);
    }
    const all = new Int32Array(codes);
    for (let base = 0; base < bases; base++) {
      const turned = vector.slice();
      sign(turned, keys, 2 + base);
      transform(turned);
      for (let i = 0; i < width; i++) {
        all[2 * (base * width + i)] = turned[i];
        all[2 * (base * width + i) + 1] = -turned[i];
      }
    }
    return all;
  }

  /** The nearest words under a seed, in their order; of equally near ones the first. */
  function favoured(index, seed) {
    const all = scores(index, keysOf(seed));
    const order = Array.from(all, (_, word) => word).sort((a, b) => all[b] - all[a] || a - b);
    return order.slice(0, nearest).sort((a, b) => a - b);
  }

  return {
    inputs: 1n << BigInt(32 * dimension),
    outputs: (ALL + 1n) * words,
    members: (ALL + 1n) * favouredWords,
    others: (ALL + 1n) * (words - favouredWords),
    inside(index, j) {
      const seed = j / favouredWords;
      return seed * words + BigInt(favoured(index, seed)[Number(j % favouredWords)]);
    },
    outside(index, j) {
      const seed = j / (words - favouredWords);
      let word = Number(j % (words - favouredWords));
      for (const near of favoured(index, seed)) if (near <= word) word++;
      return seed * words + BigInt(word);
    },
  };
}
