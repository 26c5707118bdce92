// A place as direction and share of the way to the border, seen from a public point; and several places in a row.

import { digits, isqrt, undigits } from "../integers.js";
import { Fields, must } from "./fields.js";
import { product, productOfRatios } from "./work.js";

const MOST_SIDE = 1 << 13;
const abs = (n) => (n < 0n ? -n : n);
const max = (a, b) => (a > b ? a : b);

/** Which of many equal angles a vector lies in, by cross products alone. */
class Directions {
  constructor(compiled) {
    const fields = new Fields(compiled);
    this.cells = fields.count("cells", 4, 1 << 20);
    const [across, up] = ["across", "up"].map((name) => fields.integers(name, 0n));
    fields.end();
    must(this.cells % 4 === 0 && across.length === this.cells / 4 + 1 && up.length === across.length, "the directions of a quarter are cells/4 + 1 vectors");
    must(across.every((x, i) => x + up[i] > 0n), "a direction must not be the zero vector");
    const quarter = across.map((x, i) => [x, up[i]]);
    this.half = [...quarter, ...quarter.slice(0, -1).reverse().map(([x, y]) => [-x, y])];
  }

  cell(across, up) {
    let base = 0;
    if (up < 0n || (up === 0n && across < 0n)) [across, up, base] = [-across, -up, this.cells / 2];
    let [low, high] = [0, this.cells / 2];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const [x, y] = this.half[middle];
      if (x * up >= y * across) low = middle;
      else high = middle;
    }
    return BigInt(base + low);
  }

  /** A vector in the middle of an angle. */
  middle(cell) {
    const turned = cell >= this.cells / 2;
    const at = turned ? cell - this.cells / 2 : cell;
    const [[x, y], [toX, toY]] = [this.half[at], this.half[at + 1]];
    return turned ? [-x - toX, -y - toY] : [x + toX, y + toY];
  }
}

/** How many half cells there are between the reference and the border a step points to. */
const room = (step, reference, cells) => (step > 0n ? 2n * cells - reference : reference);

function rectangleView(columns, rows, reference) {
  const [x, y] = reference;
  must(x >= 0n && x <= 2n * columns && y >= 0n && y <= 2n * rows, "the reference must lie in the rectangle");
  return {
    inputs: columns * rows,
    polar(index, directions, distances) {
      const across = 2n * (index % columns) + 1n - x;
      const up = 2n * (index / columns) + 1n - y;
      const share = max(
        (abs(across) * distances) / max(room(across, x, columns), 1n),
        (abs(up) * distances) / max(room(up, y, rows), 1n),
      );
      return [directions.cell(across, up), share];
    },
    /** The view from the lattice point nearest to the middle of a direction and distance cell. */
    moved(turn, share, directions, distances) {
      const [across, up] = directions.middle(Number(turn));
      const [right, top] = [room(across, x, columns), room(up, y, rows)];
      const [length, along] = right * abs(up) <= top * abs(across) ? [right, abs(across)] : [top, abs(up)];
      const way = (2n * share + 1n) * length;
      const unit = 2n * distances * along;
      const nearest = (from, step) => (2n * (from * unit + way * step) + unit) / (2n * unit);
      return rectangleView(columns, rows, [nearest(x, across), nearest(y, up)]);
    },
  };
}

function discView(cells) {
  const inside = [];
  for (let row = 0; row < cells; row++)
    for (let column = 0; column < cells; column++)
      if ((2 * row + 1 - cells) ** 2 + (2 * column + 1 - cells) ** 2 <= cells * cells) inside.push([row, column]);
  return {
    inputs: BigInt(inside.length),
    polar(index, directions, distances) {
      const [row, column] = inside[Number(index)];
      const [across, up] = [BigInt(2 * column + 1 - cells), BigInt(2 * row + 1 - cells)];
      const share = isqrt((distances ** 2n * (across ** 2n + up ** 2n)) / BigInt(cells) ** 2n);
      return [directions.cell(across, up), share < distances ? share : distances - 1n];
    },
  };
}

function viewOf(fields) {
  const kind = fields.take("view");
  if (kind === "disc") return discView(fields.count("cells", 2, MOST_SIDE));
  must(kind === "rectangle", "a view is a rectangle or a disc");
  const [columns, rows] = ["columns", "rows"].map((name) => BigInt(fields.count(name, 1, MOST_SIDE)));
  const reference = fields.integers("reference", 0n);
  must(reference.length === 2, "a reference is a pair");
  return rectangleView(columns, rows, reference);
}

function seen(view, directions, direction, distance) {
  return {
    inputs: view.inputs,
    outputs: direction.outputs * distance.outputs,
    draw(index, coins) {
      const [turn, share] = view.polar(index, directions, distance.inputs);
      return direction.draw(turn, coins) * distance.outputs + distance.draw(share, coins);
    },
    // From above: on a tiny lattice no cell may show both extremes.
    ratio: () => productOfRatios([direction.ratio(), distance.ratio()]),
    after: (output) =>
      seen(view.moved(output / distance.outputs, output % distance.outputs, directions, distance.outputs), directions, direction, distance),
    chained: "moved" in view,
  };
}

/** Direction and distance, each through its own two-level channel. */
export function directionDistance(fields, build) {
  const view = viewOf(fields);
  const directions = new Directions(fields.take("directions"));
  const [direction, distance] = ["direction", "distance"].map((name) => {
    const compiled = fields.take(name);
    must(compiled?.kind === "two-level", `${name} must be a two-level channel`);
    return build(compiled);
  });
  must(direction.inputs === BigInt(directions.cells) && direction.outputs === direction.inputs, "the direction's channel must take the directions");
  return seen(view, directions, direction, distance);
}

/** Several draws in a row; a direction-distance step is seen from the report before it. */
export function steps(fields, build) {
  const length = fields.count("length", 1, 1 << 16);
  const step = build(fields.take("step"));
  const inputs = new Array(length).fill(step.inputs);
  const outputs = new Array(length).fill(step.outputs);
  return {
    step,
    length,
    inputs: product(inputs),
    outputs: product(outputs),
    draw(index, coins) {
      let channel = step;
      const drawn = digits(index, inputs).map((digit) => {
        const output = channel.draw(digit, coins);
        if (channel.chained) channel = channel.after(output);
        return output;
      });
      return undigits(drawn, outputs);
    },
    ratio: () => productOfRatios(new Array(length).fill(step.ratio())),
  };
}
