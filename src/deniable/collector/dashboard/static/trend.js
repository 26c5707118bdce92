// How answers changed from window to window: a line with its band for each, and a sentence that says whether it did.

import { alertsOf } from "./alerts.js";
import { dots, figure, trend } from "./charts.js";
import { answerName, ask, count, element, percent, short, surveyHash, table } from "./page.js";
import { COMPARED, PAGE, RESULTS } from "./words.js";

export const MOST_WINDOWS = 24;
const MOST_LINES = 6;

/** Did it change from the first window to the last? Only if the two intervals leave no doubt. */
export function changed(name, points, show) {
  const [first, last] = [points[0], points.at(-1)];
  const between = (point) => COMPARED.within(show(point.value), PAGE.between(show(point.low), show(point.high)));
  if (first.low <= last.high && last.low <= first.high) return COMPARED.same(name);
  return COMPARED.changed(name, last.value > first.value, between(first), first.window, between(last), last.window);
}

/** One series of {window, value, low, high} for each answer, the most frequent ones first; or one for a mean or a median. */
export function series(windows, name) {
  const parts = windows.map(({ window, attributes }) => ({ window, attribute: attributes.find((one) => one.name === name) })).filter(({ attribute }) => attribute.views.length);
  const kind = ["frequency", "mean", "quantiles"].find((what) => parts.length && parts.every(({ attribute }) => attribute.views.some((view) => view.what === what)));
  if (parts.length < 2 || !kind) return { kind: null, lines: [] };
  const rows = (attribute) => attribute.views.find(({ what }) => what === kind).rows;
  const labels = kind === "quantiles" ? ["50 %"] : rows(parts.at(-1).attribute).slice().sort((a, b) => b.value - a.value).slice(0, MOST_LINES).map(({ label }) => label);
  const point = ({ window, attribute }, label) => {
    const row = rows(attribute).find((one) => one.label === label);
    return row && { window, value: row.value, low: row.low, high: row.high };
  };
  const { domain } = parts[0].attribute;
  const title = (label) => (kind === "frequency" ? answerName(domain, label) : kind === "mean" ? COMPARED.mean : COMPARED.median);
  return { kind, lines: labels.map((label) => ({ name: title(label), points: parts.map((part) => point(part, label)).filter(Boolean) })).filter(({ points }) => points.length > 1) };
}

/** The windows' estimates, oldest first; each is asked for once, and a window that is over hardly ever changes. */
export async function windowsOf(names) {
  const estimates = [];
  for (const window of names.slice(-MOST_WINDOWS)) estimates.push(await ask(`v1/surveys/${surveyHash}/estimates?window=${encodeURIComponent(window)}`));
  return estimates;
}

/** A list of sudden changes; nothing when there are none. */
function alerts(lines, level, show) {
  const steps = alertsOf(lines, level);
  if (!steps.length) return [];
  const sentence = ({ name, from, to }) => COMPARED.changed(name, to.value > from.value, show(from.value), from.window, show(to.value), to.window);
  return [
    element("p", { class: "alerts" }, element("strong", {}, COMPARED.sudden), COMPARED.rate),
    element("ul", { class: "alerts" }, steps.map((step) => element("li", {}, sentence(step)))),
  ];
}

/** The share of yes in every window of a survey whose devices report changes; neighbouring windows share reports, so no step is named. */
export function yesByWindow(attribute, { rows, method }, level) {
  const inside = (share) => Math.min(Math.max(share, 0), 1);
  const points = rows.map(({ label, value, low, high }) => ({ window: label, value, low, high }));
  const sure = RESULTS.intervals(Math.round(100 * level));
  const caption = points.length > 1 ? changed(COMPARED.yes, points, percent) : COMPARED.of(COMPARED.yes, COMPARED.within(percent(points[0].value), PAGE.between(percent(points[0].low), percent(points[0].high))));
  const cells = points.map((point) => [point.window, percent(point.value), percent(point.low), percent(point.high)]);
  return figure({
    caption: [element("strong", {}, caption), ` ${COMPARED.fromChanges} ${COMPARED.band(sure, 0)}`],
    summary: `${attribute.question} ${caption}`,
    draw: points.length > 1 ? trend([{ name: COMPARED.yes, points: points.map((point) => ({ ...point, value: inside(point.value) })) }], { show: percent }) : dots(rows, { show: percent }),
    table: table(RESULTS.with(RESULTS.views.trend, sure), PAGE.columns, cells),
    method: RESULTS.method(method, attribute.mechanism),
  });
}

/** The section of an attribute: nothing when there are fewer than two windows to compare. */
export function trendOf(windows, attribute, level) {
  const { kind, lines } = series(windows, attribute.name);
  if (!lines.length) return [];
  const show = kind === "frequency" ? percent : short;
  const words = lines.map(({ name, points }) => changed(name, points, show));
  const rows = lines.flatMap(({ name, points }) => points.map((point) => [COMPARED.of(name, point.window), show(point.value), show(point.low), show(point.high)]));
  const sure = RESULTS.intervals(Math.round(100 * level));
  return [
    element("h3", {}, COMPARED.windows),
    element("ul", {}, words.map((sentence) => element("li", {}, sentence))),
    ...alerts(lines, level, show),
    figure({
      caption: COMPARED.band(sure, lines.length === MOST_LINES ? MOST_LINES : 0),
      summary: `${attribute.question} ${words.join(" ")}`,
      draw: trend(lines, { show }),
      table: table(COMPARED.windowTable(sure), PAGE.columns, rows),
    }),
  ];
}
