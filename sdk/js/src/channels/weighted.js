// Channels given by their weights: tables, profiles, nested windows, bits, ranks, two levels.
// A channel has inputs, outputs, draw(index, coins), and ratio(): the largest weight over the smallest of any
// output, exactly or from above; null when it is unbounded.

import { Fraction } from "../fraction.js";
import { accumulate, bisectRight } from "../integers.js";
import { must } from "./fields.js";
import { places } from "./nearest.js";
import { MOST_REPORT_BITS } from "./work.js";

const MOST_WEIGHTS = 1 << 22;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0n);
const largest = (numbers) => numbers.reduce((a, b) => (a > b ? a : b));
const smallest = (numbers) => numbers.reduce((a, b) => (a < b ? a : b));

/** Favoured outputs weigh `high`, the others `low`. */
export function twoLevel(fields, sets) {
  const low = fields.integer("low", 1n);
  const high = fields.integer("high", low);
  must(sets.members > 0n && sets.others > 0n, "the favoured set must be neither empty nor everything");
  const favoured = sets.members * high;
  const total = favoured + sets.others * low;
  return {
    inputs: sets.inputs,
    outputs: sets.outputs,
    total,
    low,
    high,
    draw(index, coins) {
      const drawn = coins.below(total);
      return drawn < favoured ? sets.inside(index, drawn / high) : sets.outside(index, (drawn - favoured) / low);
    },
    ratio: () => new Fraction(high, low),
  };
}

/** The largest top/bottom over columns of weights. */
class Worst {
  ratio = new Fraction(1n);

  see(top, bottom) {
    if (this.ratio === null || top === 0n) return;
    if (bottom === 0n) this.ratio = null;
    else if (top * this.ratio.denominator > this.ratio.numerator * bottom) this.ratio = new Fraction(top, bottom);
  }
}

/** Any matrix of weights whose rows have one sum. */
export function table(fields) {
  const given = fields.list("rows");
  const columns = Array.isArray(given[0]) ? given[0].length : 0;
  must(given.every((row) => Array.isArray(row) && row.length === columns) && columns > 0, "a table needs rows of one length");
  must(given.length * columns <= MOST_WEIGHTS, "a table holds at most 2**22 weights");
  const rows = given.map((row) =>
    row.map((weight) => {
      must((typeof weight === "bigint" || Number.isSafeInteger(weight)) && weight >= 0, "weights are whole numbers, none of them negative");
      return BigInt(weight);
    }),
  );
  const total = sum(rows[0]);
  must(total > 0n && rows.every((row) => sum(row) === total), "all rows of a table must have the same positive sum");
  return {
    inputs: BigInt(rows.length),
    outputs: BigInt(columns),
    total,
    draw: (index, coins) => BigInt(bisectRight(accumulate(rows[Number(index)]), coins.below(total))),
    ratio() {
      const worst = new Worst();
      for (let column = 0; column < columns; column++) {
        let [top, bottom] = [rows[0][column], rows[0][column]];
        for (const row of rows) {
          if (row[column] > top) top = row[column];
          if (row[column] < bottom) bottom = row[column];
        }
        worst.see(top, bottom);
      }
      return worst.ratio;
    },
  };
}

/** The weight depends on the distance only: an offset is drawn, then added. */
export function profile(fields) {
  const weights = fields.integers("weights", 0n);
  const first = fields.count("first", -(2 ** 32));
  const inputs = fields.count("inputs", 1);
  const margin = fields.count("margin");
  const wrap = fields.take("wrap");
  must(typeof wrap === "boolean", "wrap must be true or false");
  const last = first + weights.length - 1;
  const reach = inputs - 1 + margin;
  if (wrap) must(weights.length === inputs && margin === 0, "a wrapped profile has one weight per cell and no margin");
  else must(first <= -reach && last >= reach, "a profile must reach every output from every input");
  const outputs = inputs + 2 * margin;
  const sums = accumulate(weights);
  const total = sums.at(-1);
  must(total > 0n, "a profile needs a positive weight");
  const upTo = (offset) => (offset < first ? 0n : sums[Math.min(offset - first, weights.length - 1)]);

  /** The weight at an end of the line: everything beyond lands there. */
  function endWeight(index, output) {
    const offset = output - index - margin;
    return (output === outputs - 1 ? total : upTo(offset)) - (output > 0 ? upTo(offset - 1) : 0n);
  }

  return {
    wrap,
    inputs: BigInt(inputs),
    outputs: BigInt(outputs),
    total,
    draw(index, coins) {
      const offset = first + bisectRight(sums, coins.below(total));
      if (wrap) return BigInt((((Number(index) + offset) % inputs) + inputs) % inputs);
      return BigInt(Math.min(Math.max(Number(index) + margin + offset, 0), outputs - 1));
    },
    ratio() {
      const worst = new Worst();
      if (wrap) worst.see(largest(weights), smallest(weights));
      else {
        // An inner output y meets the offsets y - margin - x for all x: a stretch of `inputs` weights.
        const low = 1 - margin - (inputs - 1) - first;
        const inner = weights.slice(low, low + Math.max(outputs + inputs - 3, 0));
        const tops = sliding(inner, inputs, (a, b) => a >= b);
        const bottoms = sliding(inner, inputs, (a, b) => a <= b);
        tops.forEach((top, i) => worst.see(top, bottoms[i]));
        worst.see(endWeight(0, 0), endWeight(inputs - 1, 0));
        worst.see(endWeight(inputs - 1, outputs - 1), endWeight(0, outputs - 1));
      }
      return worst.ratio;
    },
  };
}

/** The best of every `width` neighbours, in one pass. */
function sliding(values, width, better) {
  const found = [];
  const candidates = [];
  let head = 0;
  values.forEach((value, i) => {
    while (candidates.length > head && better(value, values[candidates.at(-1)])) candidates.pop();
    candidates.push(i);
    if (candidates[head] <= i - width) head++;
    if (i >= width - 1) found.push(values[candidates[head]]);
  });
  return found;
}

/** Windows inside windows, all of them slid inward near the ends. */
export function nested(fields) {
  const cells = fields.count("cells", 2);
  const widths = fields.list("widths");
  const weights = fields.integers("weights", 1n);
  const growing = widths.every((width, j) => Number.isSafeInteger(width) && width > (j ? widths[j - 1] : 0));
  must(growing && widths.at(-1) < cells, "window widths must grow and stay below the number of cells");
  must(weights.length === widths.length + 1, "there must be one more weight than windows");
  const edges = [0, ...widths, cells];
  const ends = accumulate(weights.map((weight, j) => weight * BigInt(edges[j + 1] - edges[j])));
  const start = (index, width) => Math.min(Math.max(index - Math.floor(width / 2), 0), cells - width);
  return {
    inputs: BigInt(cells),
    outputs: BigInt(cells),
    total: ends.at(-1),
    draw(index, coins) {
      const drawn = coins.below(ends.at(-1));
      const j = bisectRight(ends, drawn);
      const position = Number((drawn - (j ? ends[j - 1] : 0n)) / weights[j]);
      const cell = start(Number(index), edges[j + 1]) + position;
      const hole = j ? start(Number(index), edges[j]) : cell + 1;
      return BigInt(cell < hole ? cell : cell + edges[j]);
    },
    ratio: () => new Fraction(largest(weights), smallest(weights)),
  };
}

/** Independent bits, one for each value; every one is drawn, the last one too. */
export function bits(fields) {
  const size = fields.count("size", 2, MOST_REPORT_BITS);
  const [own, other, scale] = ["own", "other", "scale"].map((name) => fields.integer(name, 1n));
  must(other <= own && own < scale, "the bit weights must satisfy 0 < other <= own < scale");
  return {
    inputs: BigInt(size),
    outputs: 1n << BigInt(size),
    total: null, // scale ** size: nobody needs the number itself
    draw(index, coins) {
      const nibbles = new Uint8Array(Math.ceil(size / 4));
      for (let value = 0; value < size; value++) {
        const threshold = BigInt(value) === index ? own : other;
        if (coins.below(scale) < threshold) nibbles[value >> 2] |= 1 << (value & 3);
      }
      return BigInt("0x" + Array.from(nibbles.reverse(), (nibble) => nibble.toString(16)).join(""));
    },
    ratio: () => new Fraction(own * (scale - other), other * (scale - own)),
  };
}

/** Places in the order of their distance, in groups of fixed sizes. */
export function ranked(fields) {
  const { count, square } = places(fields, 2 ** 21 - 1);
  const sizes = fields.integers("sizes", 1n);
  const weights = fields.integers("weights", 1n);
  must(sizes.length > 1 && sizes.length === weights.length, "there must be at least two groups, each with a size and a weight");
  must(sum(sizes) === BigInt(count), "the sizes of the groups must add up to the number of places");
  must(weights.every((weight, j) => j === 0 || weight <= weights[j - 1]), "weights must not grow with the distance");
  const weightEnds = accumulate(sizes.map((size, j) => size * weights[j]));
  const sizeEnds = accumulate(sizes);
  return {
    inputs: BigInt(count),
    outputs: BigInt(count),
    total: weightEnds.at(-1),
    draw(index, coins) {
      const drawn = coins.below(weightEnds.at(-1));
      const group = bisectRight(weightEnds, drawn);
      const [before, passed] = group ? [weightEnds[group - 1], sizeEnds[group - 1]] : [0n, 0n];
      const rank = Number(passed + (drawn - before) / weights[group]);
      const at = Number(index);
      const order = Array.from({ length: count }, (_, place) => place).sort((a, b) => square(at, a) - square(at, b) || a - b);
      return BigInt(order[rank]);
    },
    ratio: () => new Fraction(weights[0], weights.at(-1)),
  };
}
