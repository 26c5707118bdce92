// Set systems: for each input x, which outputs are favoured, all of them equally many.
// A set system has inputs, outputs, members, others, and the j-th element of S_x (`inside`) and of the rest (`outside`).

import { bitCount, bitLength, combinations, modulo } from "../integers.js";
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

/** S_x = the outputs that share an even number of binary ones with x + 1. */
export function hadamard(fields) {
  const size = fields.integer("size", 1n);
  const half = 1n << BigInt(bitLength(size) - 1);
  const withParity = (row, j, parity) => {
    const pivot = row & -row; // every bit is free but this one, which sets the parity
    const output = (j & (pivot - 1n)) | ((j & -pivot) << 1n);
    return output | (pivot * BigInt((bitCount(row & output) & 1) ^ parity));
  };
  return {
    inputs: size,
    outputs: 2n * half,
    members: half,
    others: half,
    inside: (index, j) => withParity(index + 1n, j, 0),
    outside: (index, j) => withParity(index + 1n, j, 1),
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
function unrank(rank, size, chosen) {
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
