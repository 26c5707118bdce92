// What a view says, in one sentence: never more than its intervals do.

import { PAGE, RESULTS } from "./words.js";

/** The rows of a view in words; `show` writes a number. */
export function inWords(what, rows, show) {
  const between = (row) => PAGE.between(show(row.low), show(row.high));
  if (what === "mean" || what === "direction") return RESULTS.average(show(rows[0].value), between(rows[0]));
  if (what === "cumulative") {
    const half = rows.find(({ value }) => value >= 0.5) ?? rows[rows.length - 1];
    return RESULTS.halfReached(half.label, show(half.value), between(half));
  }
  if (what === "quantiles") {
    const middle = rows.find(({ label }) => label === "50 %") ?? rows[0];
    return RESULTS.halfBelow(show(middle.value), between(middle));
  }
  const first = rows.reduce((best, row) => (row.value > best.value ? row : best));
  const rivals = rows.filter((row) => row !== first && row.high >= first.low).map(({ label }) => label);
  // When all intervals hold a common value, nothing says which is larger.
  const together = rows.length > 1 && Math.max(...rows.map((row) => row.low)) <= Math.min(...rows.map((row) => row.high));
  if (what === "distribution") {
    if (together) return RESULTS.noRange;
    if (!rivals.length) return RESULTS.mostFrequentRange(first.label, show(first.value), between(first));
    // The fullest by its estimate, if that is more than a guess; otherwise the one that surely holds most.
    const full = first.low > Math.min(...rows.map((row) => row.high)) ? first : rows.reduce((best, row) => (row.low > best.low ? row : best));
    return RESULTS.frequentRange(full.label, show(full.value), between(full));
  }
  if (what === "key-means") return together ? RESULTS.noMean : RESULTS.highestMean(first.label, show(first.value), between(first), rivals);
  return together ? RESULTS.noAnswer : RESULTS.mostFrequent(first.label, show(first.value), between(first), rivals);
}
