// Groups that answer the same questions: where they differ, and where there are too few reports to tell.

import { figure, grouped } from "./charts.js";
import { answerName, count, element, percent, short, surveyHash, table } from "./page.js";
import { COMPARED, PAGE } from "./words.js";

/** One answer in all groups. Two groups differ only if their intervals leave no doubt; otherwise it says how much they can differ at most. */
export function contrast(name, rows, show, apart = show) {
  const highest = rows.reduce((best, row) => (row.low > best.low ? row : best));
  const lowest = rows.reduce((best, row) => (row.high < best.high ? row : best));
  const between = (row) => COMPARED.within(show(row.value), PAGE.between(show(row.low), show(row.high)));
  if (highest.low > lowest.high)
    return COMPARED.higher(name, highest.group, between(highest), lowest.group, between(lowest), apart(highest.low - lowest.high));
  const most = Math.max(...rows.flatMap((one) => rows.filter((other) => other !== one).map((other) => one.high - other.low)));
  return COMPARED.alike(name, apart(most));
}

const points = (share) => COMPARED.points(Number((100 * share).toFixed(1)));

/** Blocks of {name, rows}, one for each answer. */
export function blocks(attribute) {
  const labels = [...new Set(attribute.rows.map(({ label }) => label))];
  const title = (label) => (attribute.what === "frequency" ? answerName(attribute.domain, label) : COMPARED[attribute.what]);
  return labels.map((label) => ({ name: title(label), rows: attribute.rows.filter((row) => row.label === label) }));
}

/** The section of a question: nothing when the survey has no groups. */
export function groupsOf(groups, name) {
  const attribute = groups.attributes.find((one) => one.name === name);
  if (!attribute) return [];
  const heading = element("h3", {}, COMPARED.betweenGroups);
  const waiting = groups.groups.filter((group) => group.waiting).map((group) => COMPARED.noNumbers(group.name, group.waiting));
  if (attribute.note) return [heading, element("p", { class: "quiet" }, [attribute.note, ...waiting].join(" "))];
  const show = attribute.what === "frequency" ? percent : short;
  const apart = attribute.what === "frequency" ? points : short;
  const parts = blocks(attribute);
  const words = parts.map((block) => contrast(block.name, block.rows, show, apart));
  const sure = PAGE.percent(Math.round(100 * groups.level));
  const rows = parts.flatMap((block) => block.rows.map((row) => [COMPARED.of(block.name, row.group), show(row.value), show(row.low), show(row.high)]));
  return [
    heading,
    element("ul", {}, words.map((sentence) => element("li", {}, sentence))),
    ...(waiting.length ? [element("p", { class: "quiet" }, waiting.join(" "))] : []),
    figure({
      caption: COMPARED.overlap(sure),
      summary: `${attribute.question} ${words.join(" ")}`,
      draw: grouped(parts, { show }),
      table: table(COMPARED.together(sure), PAGE.columns, rows),
    }),
  ];
}

/** Links to the other groups' own results. */
export function groupLinks(groups) {
  const reports = ({ name, n, waiting }) => COMPARED.group(name, waiting ? COMPARED.none : count(n));
  const one = (group) =>
    group.survey === surveyHash
      ? element("strong", {}, reports(group))
      : element("a", { href: `results?survey=${group.survey}` }, reports(group));
  return groups.groups.length ? [COMPARED.groups, ...groups.groups.flatMap((group, i) => [i ? " · " : "", one(group)])] : [];
}
