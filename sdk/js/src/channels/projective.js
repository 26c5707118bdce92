// S_x = the points of the hyperplane of x in a finite projective space.

import { modulo } from "../integers.js";
import { must } from "./fields.js";

const MOST_PRIME = 2 ** 31;

export function projective(fields) {
  const size = fields.integer("size", 1n);
  const small = fields.count("prime", 2, MOST_PRIME);
  const dimension = fields.count("dimension", 2, 64);
  for (let d = 2; d * d <= small; d++) must(small % d !== 0, "a projective space needs a prime field");
  const prime = BigInt(small);
  const points = (places) => (prime ** BigInt(places) - 1n) / (prime - 1n);
  const outputs = points(dimension);
  must(size <= outputs, "the projective space has fewer points than there are values");

  const inverse = (digit) => {
    let [found, base, power] = [1n, digit, prime - 2n];
    for (; power; power >>= 1n, base = (base * base) % prime) if (power & 1n) found = (found * base) % prime;
    return found;
  };

  /** The digits of a point; its first digit that is not 0 is 1. */
  function vector(number, places) {
    let after = 0;
    for (let block = 1n; number >= block; block *= prime, after++) number -= block;
    const digits = new Array(places).fill(0n);
    digits[places - 1 - after] = 1n;
    for (let place = places - 1; place > places - 1 - after; place--, number /= prime) digits[place] = number % prime;
    return digits;
  }

  function number(digits) {
    const lead = digits.findIndex((digit) => digit !== 0n);
    const scale = inverse(digits[lead]);
    let found = 0n;
    for (const digit of digits.slice(lead + 1)) found = found * prime + ((digit * scale) % prime);
    return found + points(digits.length - 1 - lead);
  }

  /** The point with these digits, and the one at x's last nonzero place solving <x, y> = product. */
  function solve(index, free, product) {
    const x = vector(index, dimension);
    const pivot = x.findLastIndex((digit) => digit !== 0n);
    const y = [...free.slice(0, pivot), 0n, ...free.slice(pivot)];
    const sum = x.reduce((total, digit, place) => total + digit * y[place], 0n);
    y[pivot] = modulo((product - sum) * inverse(x[pivot]), prime);
    return number(y);
  }

  return {
    inputs: size,
    outputs,
    members: points(dimension - 1),
    others: outputs - points(dimension - 1),
    inside: (index, j) => solve(index, vector(j, dimension - 1), 0n),
    outside: (index, j) => {
      const free = [];
      for (let place = 1; place < dimension; place++, j /= prime) free.push(j % prime);
      return solve(index, free, 1n);
    },
  };
}
