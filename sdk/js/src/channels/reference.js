// Two levels on top of a reference weight that is not constant: the nearest outputs are raised until the row is full.

import { Fraction } from "../fraction.js";
import { accumulate, bisectRight } from "../integers.js";
import { must } from "./fields.js";

export function reference(fields) {
  const low = fields.integers("low", 1n);
  const high = fields.integers("high", 1n);
  const outputAt = fields.integers("output_at");
  const inputAt = fields.integers("input_at");
  const total = fields.integer("total", 1n);
  const outputs = outputAt.length;
  must(outputs > 1 && low.length === outputs && high.length === outputs, "there must be one low, one high weight and one place per output");
  must(low.every((weight, y) => weight <= high[y]), "reference weights must satisfy 0 < low <= high");
  for (const at of [outputAt, inputAt]) must(at.every((place, i) => i === 0 || at[i - 1] < place), "the places must grow");
  const lowSums = [0n, ...accumulate(low)];
  const gainSums = [0n, ...accumulate(high.map((weight, y) => weight - low[y]))];
  const budget = total - lowSums[outputs];
  must(budget >= 0n && budget < gainSums[outputs], "the total must lie between the sums of the low and of the high weights");

  /** The outputs no farther than `radius` from a place. */
  function within(place, radius) {
    if (radius < 0n) return [bisectRight(outputAt, place), bisectRight(outputAt, place)];
    return [bisectRight(outputAt, place - radius - 1n), bisectRight(outputAt, place + radius)];
  }

  /** The largest radius whose outputs all fit into the budget. */
  function radiusOf(place) {
    let least = -1n;
    let most = outputAt[outputs - 1] - outputAt[0] + (place < 0n ? -place : place) + 1n;
    while (most - least > 1n) {
      const middle = (least + most) / 2n;
      const [start, end] = within(place, middle);
      if (gainSums[end] - gainSums[start] <= budget) least = middle;
      else most = middle;
    }
    return least;
  }

  /** Outputs start … end-1 weigh high, `edge` beside them weighs `rest`, the others low. */
  function rowOf(place) {
    let [start, end] = within(place, radiusOf(place));
    let left = budget - (gainSums[end] - gainSums[start]);
    for (;;) {
      const before = start > 0 ? place - outputAt[start - 1] : null;
      const after = end < outputs ? outputAt[end] - place : null;
      const goLeft = after === null || (before !== null && before <= after);
      const edge = goLeft ? start - 1 : end;
      const gain = high[edge] - low[edge];
      if (gain > left) return { start, end, edge, rest: low[edge] + left };
      left -= gain;
      if (goLeft) start = edge;
      else end = edge + 1;
    }
  }

  /** The weight of all outputs before this one. */
  function before(row, output) {
    const gain = gainSums[Math.min(Math.max(output, row.start), row.end)] - gainSums[row.start];
    return lowSums[output] + gain + (output > row.edge ? row.rest - low[row.edge] : 0n);
  }

  return {
    inputs: BigInt(inputAt.length),
    outputs: BigInt(outputs),
    total,
    draw(index, coins) {
      const drawn = coins.below(total);
      const row = rowOf(inputAt[Number(index)]);
      let [least, most] = [0, outputs];
      while (most - least > 1) {
        const middle = (least + most) >> 1;
        if (before(row, middle) <= drawn) least = middle;
        else most = middle;
      }
      return BigInt(least);
    },
    ratio() {
      const favoured = new Array(outputs + 1).fill(0);
      const edges = Array.from({ length: outputs }, () => []);
      for (const place of inputAt) {
        const row = rowOf(place);
        favoured[row.start] += 1;
        favoured[row.end] -= 1;
        edges[row.edge].push(row.rest);
      }
      let worst = new Fraction(1n);
      let count = 0;
      for (let output = 0; output < outputs; output++) {
        count += favoured[output];
        const seen = [...edges[output]];
        if (count) seen.push(high[output]);
        if (count + edges[output].length < inputAt.length) seen.push(low[output]);
        const top = seen.reduce((a, b) => (a > b ? a : b));
        const bottom = seen.reduce((a, b) => (a < b ? a : b));
        if (top * worst.denominator > worst.numerator * bottom) worst = new Fraction(top, bottom);
      }
      return worst;
    },
  };
}
