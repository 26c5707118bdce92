// Set systems: for each input x, which outputs are favoured, all of them equally many.
// A set system has inputs, outputs, members, others, and the j-th element of S_x (`inside`) and of the rest (`outside`).

import { combinations, modulo } from "../integers.js";
import { must } from "./fields.js";

/** S_x = {x}. */
export function singleton(fields) {
  const size = fields.integer("size", 2n);
  return {
    inputs: size,
    outputs: size,
    members: 1n,
    others: size - 1n,
    inside: (index) => index,
    outside: (index, j) => (index + 1n + j) % size,
  };
}

/** S_x = neighbouring cells from start(x) on, wrapping around. */
export function windowSet(fields) {
  const inputs = fields.integer("inputs", 1n);
  const outputs = fields.integer("outputs", 2n);
  const members = fields.integer("members", 1n);
  const [offset, first, last] = ["offset", "first", "last"].map((name) => fields.integer(name));
  must(members < outputs, "a window must have fewer cells than there are outputs");
  const start = (index) => {
    const moved = offset + index < first ? first : offset + index;
    return modulo(moved > last ? last : moved, outputs);
  };
  return {
    inputs,
    outputs,
    members,
    others: outputs - members,
    inside: (index, j) => (start(index) + j) % outputs,
    outside: (index, j) => (start(index) + members + j) % outputs,
  };
}

/** S_x = the sector of a circle that holds cell x. */
export function sectors(fields) {
  const cells = fields.integer("cells", 2n);
  const count = fields.integer("sectors", 2n);
  must(cells % count === 0n, "the cells must be a multiple of the sectors");
  const members = cells / count;
  const start = (index) => index - (index % members);
  return {
    inputs: cells,
    outputs: cells,
    members,
    others: cells - members,
    inside: (index, j) => start(index) + j,
    outside: (index, j) => (start(index) + members + j) % cells,
  };
}

/** The least irreducible binary polynomials of degree 1, 2, … as numbers. */
const POLYNOMIALS = [3n, 7n, 11n, 19n, 37n, 67n, 131n, 283n];

/** S_x = the outputs y with r_x * y = 0, digits multiplied in the field of 2**t elements; r_x is the x-th vector that leads with 1. */
export function hadamard(fields) {
  const size = fields.integer("size", 1n);
  const polynomial = fields.integer("polynomial", 3n);
  must(POLYNOMIALS.includes(polynomial), "the polynomial must be one that is known to be irreducible");
  const checks = BigInt(POLYNOMIALS.indexOf(polynomial) + 1);
  const digit = (1n << checks) - 1n;
  let digits = 0n;
  for (let vectors = 0n; vectors < size; digits += 1n) vectors += 1n << (checks * digits);
  const members = 1n << (checks * (digits - 1n));
  const times = (one, other) => {
    let product = 0n;
    for (; other > 0n; other >>= 1n) {
      if (other & 1n) product ^= one;
      one <<= 1n;
      if (one >> checks) one ^= polynomial;
    }
    return product;
  };
  const withValue = (index, j, value) => {
    let pivot = 0n; // every digit is free but the one at the leading 1, which makes the sum what is wanted
    let row = index;
    for (; row >= 1n << pivot; pivot += checks) row -= 1n << pivot;
    let below = j & ((1n << pivot) - 1n);
    const output = below | ((j ^ below) << checks);
    for (; row > 0n; row >>= checks, below >>= checks) value ^= times(row & digit, below & digit);
    return output | (value << pivot);
  };
  return {
    inputs: size,
    outputs: members << checks,
    members,
    others: members * digit,
    inside: (index, j) => withValue(index, j, 0n),
    outside: (index, j) => withValue(index, j % members, 1n + j / members),
  };
}

/** Outputs are the subsets of `chosen` out of `size` values, as binary numbers. */
export function subsets(fields) {
  const size = fields.count("size", 2, 1 << 16);
  const chosen = fields.count("chosen", 1, size - 1);
  const insert = (index, subset, bit) => {
    const below = (1n << index) - 1n;
    return (subset & below) | (bit << index) | ((subset & ~below) << 1n);
  };
  return {
    inputs: BigInt(size),
    outputs: 1n << BigInt(size),
    members: combinations(BigInt(size - 1), BigInt(chosen - 1)),
    others: combinations(BigInt(size - 1), BigInt(chosen)),
    inside: (index, j) => insert(index, unrank(j, size - 1, chosen - 1), 1n),
    outside: (index, j) => insert(index, unrank(j, size - 1, chosen), 0n),
  };
}

/** The subset with this rank among all `chosen`-subsets of `size` values. */
export function unrank(rank, size, chosen) {
  let subset = 0n;
  let count = combinations(BigInt(size), BigInt(chosen));
  for (let value = size - 1; value >= 0 && chosen > 0; value--) {
    // How many of the remaining subsets leave this value out.
    const without = (count * BigInt(value + 1 - chosen)) / BigInt(value + 1);
    if (rank < without) count = without;
    else {
      rank -= without;
      count -= without;
      subset |= 1n << BigInt(value);
      chosen -= 1;
    }
  }
  return subset;
}
