// The cells of a grid, or the listed places, nearest to the true one. Ordinary numbers are exact here.

import { bisectRight } from "../integers.js";
import { must } from "./fields.js";

const MOST_CELLS = 2 ** 26;
const MOST_COORDINATE = 2 ** 24;
const root = (n) => (n < 0 ? -1 : Math.floor(Math.sqrt(n)));

function system(cells, members, inside, outside) {
  must(members > 0 && members < cells, "a neighbourhood must have at least 1 and fewer than all cells");
  return {
    inputs: BigInt(cells),
    outputs: BigInt(cells),
    members: BigInt(members),
    others: BigInt(cells - members),
    inside: (index, j) => BigInt(inside(Number(index), Number(j))),
    outside: (index, j) => BigInt(outside(Number(index), Number(j))),
  };
}

/** S_x = the `members` cells of a region nearest to cell x; equally far ones are taken by position. */
export function nearest(fields) {
  const rows = fields.count("rows", 1, MOST_CELLS);
  const columns = fields.count("columns", 1, MOST_CELLS);
  const members = fields.count("members", 1, MOST_CELLS);
  must(rows * columns <= MOST_CELLS, "a grid has at most 2**26 cells");
  const given = fields.take("region");
  const region = given === null ? null : listed(given, rows * columns);
  const before = region === null ? null : runningCount(region, rows * columns);

  /** The cells start … stop-1 of a row as a run of the region's numbers. */
  function span(row, start, stop) {
    const from = row * columns + Math.max(start, 0);
    const to = row * columns + Math.min(stop, columns);
    if (from >= to) return [0, 0];
    return before === null ? [from, to] : [before[from], before[to]];
  }

  function spans(row, column, square) {
    const reach = root(square);
    const found = [];
    for (let r = Math.max(row - reach, 0); r <= Math.min(row + reach, rows - 1); r++) {
      const half = root(square - (r - row) ** 2);
      found.push(span(r, column - half, column + half + 1));
    }
    return found;
  }

  const within = (row, column, square) => spans(row, column, square).reduce((sum, [start, stop]) => sum + stop - start, 0);

  /** S_x as runs of numbers, growing. */
  function runs(index) {
    const cell = region === null ? index : region[index];
    const column = cell % columns;
    const row = (cell - column) / columns;
    let [low, high] = [-1, 1];
    while (within(row, column, high) < members) [low, high] = [high, 2 * high];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (within(row, column, middle) < members) low = middle;
      else high = middle;
    }
    const found = spans(row, column, high - 1).filter(([start, stop]) => start < stop);
    const ties = members - within(row, column, high - 1);
    for (const tied of tiedCells(row, column, high).slice(0, ties)) found.push([tied, tied + 1]);
    return found.sort((a, b) => a[0] - b[0]);
  }

  /** The cells at exactly this squared distance, in order. */
  function tiedCells(row, column, square) {
    const found = [];
    const furthest = root(square);
    for (let r = Math.max(row - furthest, 0); r <= Math.min(row + furthest, rows - 1); r++) {
      const half = root(square - (r - row) ** 2);
      if (half * half !== square - (r - row) ** 2) continue;
      for (const c of half ? [column - half, column + half] : [column]) {
        const [start, stop] = c >= 0 ? span(r, c, c + 1) : [0, 0];
        for (let number = start; number < stop; number++) found.push(number);
      }
    }
    return found;
  }

  return system(
    region === null ? rows * columns : region.length,
    members,
    (index, j) => {
      for (const [start, stop] of runs(index)) {
        if (j < stop - start) return start + j;
        j -= stop - start;
      }
      throw new RangeError("a neighbourhood has no such cell");
    },
    (index, j) => {
      for (const [start, stop] of runs(index)) {
        if (j < start) break;
        j += stop - start;
      }
      return j;
    },
  );
}

function listed(given, cells) {
  const growing = Array.isArray(given) && given.length > 1 && given.every((cell, i) => Number.isSafeInteger(cell) && cell > (i ? given[i - 1] : -1));
  must(growing && given.at(-1) < cells, "the region must list cells of the grid in growing order");
  return given;
}

function runningCount(region, cells) {
  const found = new Uint32Array(cells + 1);
  for (const cell of region) found[cell + 1] = 1;
  for (let i = 1; i <= cells; i++) found[i] += found[i - 1];
  return found;
}

/** Public places with whole coordinates. */
export function places(fields, most) {
  const [columns, rows] = ["columns", "rows"].map((name) => {
    const found = fields.list(name);
    must(found.every((at) => Number.isSafeInteger(at) && at >= 0 && at <= most), `${name} must be whole numbers from 0 to ${most}`);
    return found;
  });
  must(columns.length === rows.length && rows.length > 1, "there must be one row and one column per place");
  return {
    count: rows.length,
    square: (a, b) => (columns[a] - columns[b]) ** 2 + (rows[a] - rows[b]) ** 2,
  };
}

/** S_x = the `members` listed places nearest to place x, itself first. */
export function nearestPlaces(fields) {
  const { count, square } = places(fields, MOST_COORDINATE);
  const members = fields.count("members", 1, count - 1);
  const neighbours = (index) => {
    const squares = Array.from({ length: count }, (_, place) => (place === index ? -1 : square(index, place)));
    const order = squares.map((_, place) => place).sort((a, b) => squares[a] - squares[b] || a - b);
    return order.slice(0, members).sort((a, b) => a - b);
  };
  return system(
    count,
    members,
    (index, j) => neighbours(index)[j],
    (index, j) => j + bisectRight(neighbours(index).map((place, i) => place - i), j),
  );
}
