// Vectors of bounded length, on a fine lattice: one 32-bit word of the index for each coordinate.

import { InvalidParameter } from "../errors.js";
import { fractionFromText } from "../fraction.js";
import { countOf, fieldsOf, refused } from "./base.js";

export const UNIT = 2 ** 22;
export const MOST_DIMENSIONS = 1 << 16;

/** The squared length on the lattice that rounding can give a vector of the ball, at most. */
export function mostSquare(dimension) {
  return (UNIT + Math.floor(Math.floor(Math.sqrt(dimension)) / 2) + 1) ** 2;
}

/** The nearest whole number, the even one of two. */
function rounded(number) {
  const low = Math.floor(number);
  const above = number - low;
  return above > 0.5 || (above === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

/** Vectors of `dimension` numbers whose length is at most `radius`. */
export function ball(recipe) {
  const [given, radiusText, norm] = fieldsOf(recipe, "dimension", "radius", "norm");
  const dimension = countOf("dimension", given, 1, MOST_DIMENSIONS);
  const radius = fractionFromText(radiusText).toNumber();
  if (!(radius > 1e-100 && radius < 1e100)) throw new InvalidParameter("radius must lie between 1e-100 and 1e100");
  if (norm !== "2" && norm !== "max") throw new InvalidParameter("norm must be 2 or max");
  const reach = radius * (norm === "2" ? 1 : Math.sqrt(dimension));
  const perUnit = UNIT / reach;
  const mostStep = norm === "2" ? UNIT + 1 : rounded(radius * perUnit) + 1;
  return {
    kind: "ball",
    dimension,
    size: 1n << BigInt(32 * dimension),
    encode(value) {
      const list = Array.isArray(value) || ArrayBuffer.isView(value) ? Array.from(value) : [];
      if (list.length !== dimension || !list.every((number) => typeof number === "number" && Number.isFinite(number))) {
        throw refused(`the value must be a list of ${dimension} finite numbers`);
      }
      let square = 0;
      let hexadecimal = "0x";
      for (const number of list) {
        const step = Math.abs(number) > 2 * reach ? mostStep + 1 : rounded(number * perUnit);
        square += step * step;
        if (Math.abs(step) > mostStep || square > mostSquare(dimension)) throw refused("the value must not be longer than the radius of the ball");
        hexadecimal += (step >>> 0).toString(16).padStart(8, "0");
      }
      return BigInt(hexadecimal);
    },
  };
}
