// Places in the plane and on the globe. Each says where a place lies, as exact shares of two axes, and in which cell.

import { InvalidParameter } from "../errors.js";
import { Fraction, ONE, ZERO, exactly, fractionFromText, whole } from "../fraction.js";
import { MOST_CELLS, countOf, fieldsOf, pairFromText, refused } from "./base.js";
import { cellOf, circle, interval } from "./numbers.js";

/** Two exact coordinates, or null. */
export function pairOf(value) {
  const pair = Array.isArray(value) && value.length === 2 ? value.map(exactly) : [null];
  return pair.includes(null) ? null : pair;
}

const NOT_A_PAIR = "the value must be a pair of numbers";

/** Cells counted row by row from the lower left; `shares` gives a place's [x, y] shares. */
function grid(kind, columns, rows, shares, more = {}) {
  countOf("all cells together", Number(columns * rows), 4, MOST_CELLS);
  return {
    kind,
    columns,
    rows,
    size: columns * rows,
    shares,
    encode(value) {
      const [x, y] = this.shares(value);
      return cellOf(y, rows) * columns + cellOf(x, columns);
    },
    ...more,
  };
}

/** x in one interval, y in another. */
export function rectangle(recipe) {
  const [x, y] = fieldsOf(recipe, "x", "y").map((side) => {
    if (side?.kind !== "interval") throw new InvalidParameter("a rectangle is made of two intervals");
    return interval(side);
  });
  return grid(
    "rectangle",
    x.cells,
    y.cells,
    (value) => {
      const pair = pairOf(value);
      if (!pair) throw refused(NOT_A_PAIR);
      const found = [x.share(pair[0]), y.share(pair[1])];
      if (found.includes(null)) throw refused("the value lies outside the rectangle");
      return found;
    },
    { x, y },
  );
}

/** origin + s * across + t * up with s and t from 0 to 1. */
export function parallelogram(recipe) {
  const [originText, acrossText, upText, cells] = fieldsOf(recipe, "origin", "across", "up", "cells");
  const [origin, across, up] = [originText, acrossText, upText].map((pair) => pairFromText("a vector", pair));
  if (!Array.isArray(cells) || cells.length !== 2) throw new InvalidParameter("cells must be a pair of whole numbers");
  const [columns, rows] = cells.map((count) => BigInt(countOf("cells", count, 2, MOST_CELLS)));
  const area = across[0].times(up[1]).minus(across[1].times(up[0]));
  if (area.equals(ZERO)) throw new InvalidParameter("across and up must not be parallel");
  return grid("parallelogram", columns, rows, (value) => {
    const pair = pairOf(value);
    if (!pair) throw refused(NOT_A_PAIR);
    const [x, y] = pair.map((part, axis) => part.minus(origin[axis]));
    const found = [x.times(up[1]).minus(y.times(up[0])).over(area), across[0].times(y).minus(across[1].times(x)).over(area)];
    if (found.some((share) => share.compare(ZERO) < 0 || share.compare(ONE) > 0)) throw refused("the value lies outside the parallelogram");
    return found;
  });
}

/** Longitude and latitude in degrees. */
export function sphere(recipe) {
  const [latitudeRecipe, cells] = fieldsOf(recipe, "latitudes", "cells");
  if (latitudeRecipe?.kind !== "interval") throw new InvalidParameter("the latitudes of a sphere are an interval");
  const latitudes = interval(latitudeRecipe);
  const around = circle({ kind: "circle", period: "360", cells });
  return grid("sphere", around.cells, latitudes.cells, (value) => {
    const pair = pairOf(value);
    if (!pair) throw refused(NOT_A_PAIR);
    const found = [around.share(pair[0].plus(whole(180))), latitudes.share(pair[1])];
    if (found.includes(null)) throw refused("the value lies outside the globe's part that is asked for");
    return found;
  });
}

/** The cells of a square grid whose middles lie in a disc. */
export function disc(recipe) {
  const [centerText, radiusText, cells] = fieldsOf(recipe, "center", "radius", "cells");
  const center = pairFromText("center", centerText);
  const radius = fractionFromText(radiusText);
  if (radius.compare(ZERO) <= 0) throw new InvalidParameter("radius must be positive");
  const n = countOf("cells", cells, 2, 2 ** 13);
  const inside = new Map();
  const middle = (place) => 2 * place + 1 - n;
  for (let cell = 0; cell < n * n; cell++) {
    if (middle(cell % n) ** 2 + middle(Math.floor(cell / n)) ** 2 <= n * n) inside.set(cell, BigInt(inside.size));
  }
  return {
    kind: "disc",
    center,
    radius,
    size: BigInt(inside.size),
    encode(value) {
      const pair = pairOf(value);
      if (!pair) throw refused(NOT_A_PAIR);
      const [x, y] = pair.map((part, axis) => part.minus(center[axis]));
      if (x.times(x).plus(y.times(y)).compare(radius.times(radius)) > 0) throw refused("the value lies outside the disc");
      const share = (part) => part.plus(radius).over(radius.times(new Fraction(2n)));
      let [column, row] = [x, y].map((part) => Number(cellOf(share(part), BigInt(n))));
      // A border cell whose middle is outside goes to its neighbour toward the center.
      while (!inside.has(row * n + column)) {
        row -= Math.sign(middle(row));
        column -= Math.sign(middle(column));
      }
      return inside.get(row * n + column);
    },
  };
}
