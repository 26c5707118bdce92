// Any region with straight borders, on the square cells whose middles lie inside.

import { InvalidParameter } from "../errors.js";
import { Fraction, HALF, exactly, whole } from "../fraction.js";
import { MOST_CELLS, countOf, fieldsOf, pairFromText, refused } from "./base.js";
import { cellOf, interval } from "./numbers.js";
import { pairOf } from "./plane.js";

const least = (parts) => parts.reduce((a, b) => (b.compare(a) < 0 ? b : a));
const most = (parts) => parts.reduce((a, b) => (b.compare(a) > 0 ? b : a));
const ceiling = (part) => -new Fraction(-part.numerator, part.denominator).floor();

/** Is a point inside or on the border? Exactly. */
function holds(corners, [across, up]) {
  let inside = false;
  let [x, y] = corners.at(-1);
  for (const [toX, toY] of corners) {
    const passes = y.compare(up) > 0 !== toY.compare(up) > 0; // half-open, so that a corner counts once
    if (passes || y.equals(up) || toY.equals(up)) {
      const side = toX.minus(x).times(up.minus(y)).minus(toY.minus(y).times(across.minus(x))).numerator;
      const between = (part, a, b) => part.compare(least([a, b])) >= 0 && part.compare(most([a, b])) <= 0;
      if (side === 0n && between(across, x, toX) && between(up, y, toY)) return true;
      if (passes && side > 0n === toY.compare(y) > 0) inside = !inside;
    }
    [x, y] = [toX, toY];
  }
  return inside;
}

const edgesOf = (corners) => corners.map((corner, i) => [corner, corners[(i + 1) % corners.length]]);

/** The cells of the grid that the border touches: only there a middle needs a closer look. */
function rimOf(corners, left, bottom, side, columns, rows) {
  const rim = new Set();
  for (const edge of edgesOf(corners)) {
    const sorted = edge.slice().sort((a, b) => a[0].compare(b[0]) || a[1].compare(b[1]));
    const [[x, y], [toX, toY]] = sorted.map((p) => [p[0].minus(left).over(side), p[1].minus(bottom).over(side)]);
    const [under, over] = [least([y, toY]), most([y, toY])];
    const last = Math.min(Number(over.floor()) + 1, rows - 1);
    for (let row = Math.max(Number(under.floor()) - 1, 0); row <= last; row++) {
      const [low, high] = [most([under, whole(row)]), least([over, whole(row + 1)])];
      if (low.compare(high) > 0) continue;
      const crossing = (at) => x.plus(toX.minus(x).times(at.minus(y)).over(toY.minus(y)));
      const ends = y.equals(toY) ? [x, toX] : [low, high].map(crossing);
      const end = Math.min(Number(most(ends).floor()) + 1, columns - 1);
      for (let column = Math.max(Number(least(ends).floor()) - 1, 0); column <= end; column++) rim.add(row * columns + column);
    }
  }
  return rim;
}

/** Points inside a polygon, border included. */
export function polygon(recipe) {
  const [cornerTexts, cells] = fieldsOf(recipe, "corners", "cells");
  if (!Array.isArray(cornerTexts) || cornerTexts.length < 3 || cornerTexts.length > 1000) throw new InvalidParameter("a polygon needs 3 to 1000 corners");
  const corners = cornerTexts.map((corner) => pairFromText("a corner", corner));
  const count = countOf("cells", cells, 2, MOST_CELLS);
  const [xs, ys] = [0, 1].map((axis) => corners.map((corner) => corner[axis]));
  const [left, bottom] = [least(xs), least(ys)];
  const [width, height] = [most(xs).minus(left), most(ys).minus(bottom)];
  const side = most([width, height]).over(whole(count));
  const [columns, rows] = [width, height].map((length) => Math.max(2, Number(ceiling(length.over(side)))));
  countOf("all cells together", columns * rows, 4, MOST_CELLS);
  const axis = (start, n) => interval({ kind: "interval", low: `${start}`, high: `${start.plus(side.times(whole(n)))}`, cells: n });
  const [x, y] = [axis(left, columns), axis(bottom, rows)];
  const rim = rimOf(corners, left, bottom, side, columns, rows);
  const inside = new Map();
  for (let row = 0; row < rows; row++) {
    const height = bottom.plus(side.times(whole(row).plus(HALF)));
    const crossings = edgesOf(corners)
      .filter(([start, end]) => start[1].compare(height) > 0 !== end[1].compare(height) > 0)
      .map(([start, end]) => start[0].plus(end[0].minus(start[0]).times(height.minus(start[1])).over(end[1].minus(start[1]))))
      .map((at) => at.minus(left).over(side).minus(HALF))
      .sort((a, b) => a.compare(b));
    for (let column = 0; column < columns; column++) {
      const cell = row * columns + column;
      // What a decoder gives for a rim cell is a pair of doubles, and those must be inside.
      const belongs = rim.has(cell)
        ? holds(corners, [exactly(x.middle(BigInt(column))), exactly(y.middle(BigInt(row)))])
        : crossings.filter((at) => at.compare(whole(column)) <= 0).length % 2 === 1;
      if (belongs) inside.set(cell, BigInt(inside.size));
    }
  }
  if (inside.size < 2) throw new InvalidParameter("at least two cell middles must lie inside the polygon");

  /** The number of a cell, or of the nearest one inside. */
  function nearest(cell) {
    if (inside.has(cell)) return inside.get(cell);
    const column = cell % columns;
    const row = (cell - column) / columns;
    for (let reach = 1; ; reach *= 2) {
      let [best, square] = [null, Infinity];
      for (let r = -reach; r <= reach; r++)
        for (let c = -reach; c <= reach; c++) {
          const other = (row + r) * columns + column + c;
          const far = r * r + c * c;
          // Row by row: the first of equally far cells is the one with the lowest number.
          if (column + c >= 0 && column + c < columns && far <= reach * reach && far < square && inside.has(other)) [best, square] = [other, far];
        }
      if (best !== null) return inside.get(best);
    }
  }

  return {
    kind: "polygon",
    corners,
    size: BigInt(inside.size),
    encode(value) {
      const pair = pairOf(value);
      if (!pair) throw refused("the value must be a pair of numbers");
      const shares = [x.share(pair[0]), y.share(pair[1])];
      if (shares.includes(null) || !holds(corners, pair)) throw refused("the value lies outside the polygon");
      return nearest(Number(cellOf(shares[1], BigInt(rows))) * columns + Number(cellOf(shares[0], BigInt(columns))));
    },
  };
}
