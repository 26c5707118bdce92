// Move epsilon and watch: what a report looks like, how much it errs, what it gives away.

import { bars, clockTicks, curve, figure, map, ticks } from "./charts.js";
import { answerName, ask, begin, clock, compact, complain, count, element, isDay, percent, short, surveyHash, table } from "./page.js";
import { EXPLORE, FRAME, PAGE, RESULTS } from "./words.js";

const EPSILONS = ["1/10", "1/4", "1/2", "3/4", "1", "3/2", "2", "5/2", "3", "4", "5", "6", "8"];
const main = begin("explore");
const value = (text) => text.split("/").reduce((a, b) => a / b);

const range = (id, most, start) => element("input", { id, type: "range", min: 0, max: most, step: 1, value: start });
const slider = range("epsilon", EPSILONS.length - 1, 4);
const position = range("position", 10, 5);
const attribute = element("select", { id: "attribute" });
const [epsilonSaid, positionSaid] = [element("output", { for: "epsilon" }), element("output", { for: "position" })];
const words = element("div", { role: "status", class: "card" });
const charts = element("div");
let asked = 0;

/** An answer as its question would write it. */
const answerOf = ({ domain, value }) => (isDay(domain) ? clock(Number(value)) : answerName(domain, value));

function say(law) {
  slider.setAttribute("aria-valuetext", EXPLORE.epsilonNow(value(law.epsilon), short(law.odds)));
  const truth = answerOf(law);
  position.setAttribute("aria-valuetext", EXPLORE.truthNow(truth));
  epsilonSaid.textContent = ` ${value(law.epsilon)}`;
  positionSaid.textContent = ` ${truth}`;
  words.replaceChildren(
    element("p", {}, EXPLORE.odds(short(law.odds), percent(law.surest))),
    ...(law.truth !== undefined ? [element("p", {}, EXPLORE.supports(percent(law.truth), percent(law.other)))] : []),
    ...(law.error !== null ? [element("p", {}, EXPLORE.error(short(law.error)))] : []),
    ...(law.note ? [element("p", { class: "quiet" }, law.note)] : []),
  );
}

function lawChart(law) {
  const caption = EXPLORE.one(law.mechanism, answerOf(law));
  if (law.kind === "bars") {
    const rows = law.rows.map(([label, chance]) => ({ label: answerName(law.domain, label), value: chance }));
    return figure({ caption, summary: rows.map((row) => `${row.label} ${percent(row.value)}`).join(", "), draw: bars(rows, { show: percent, title: EXPLORE.often }), table: table(caption, EXPLORE.answerColumns, rows.map((row) => [row.label, percent(row.value)])) });
  }
  if (law.kind === "map") {
    const [left, right, lower, upper] = law.frame;
    const [side, across] = [(upper - lower) / law.rows.length, (right - left) / law.rows[0].length];
    const cells = law.rows.flatMap((row, j) => row.map((value, i) => ({ bounds: [left + i * across, lower + j * side, left + (i + 1) * across, lower + (j + 1) * side], value })));
    const likeliest = cells.slice().sort((a, b) => b.value - a.value).slice(0, 20);
    const rows = likeliest.map(({ bounds: [l, b, r, t], value }) => [RESULTS.where(PAGE.to(short(l), short(r)), PAGE.to(short(b), short(t))), percent(value)]);
    return figure({ caption, summary: EXPLORE.cells, draw: map(cells, { show: percent }), table: table(EXPLORE.likeliest, EXPLORE.cellColumns, rows) });
  }
  const at = isDay(law.domain) ? clock : short;
  const title = isDay(law.domain) ? EXPLORE.time : law.kind === "circle" ? EXPLORE.direction : EXPLORE.number;
  const highest = law.rows.reduce((a, b) => (b[1] > a[1] ? b : a));
  const rows = law.rows.filter((_, i) => i % 5 === 0).map(([place, height]) => [at(place), short(height)]);
  return figure({ caption, summary: EXPLORE.highest(at(highest[0])), draw: curve(law.rows, { title, sideTitle: EXPLORE.density, showX: at, marks: at === clock ? clockTicks : ticks, filled: true }), table: table(caption, EXPLORE.densityColumns, rows) });
}

function peopleChart(law) {
  if (!law.people.length) return [];
  const rows = law.people.map(([n, half]) => [count(n), `±\u00a0${percent(half)}`]);
  const [people, half] = rows[Math.floor(rows.length / 2)];
  const said = EXPLORE.known(people, half);
  return [
    element("h2", {}, EXPLORE.shareError),
    figure({
      caption: [element("strong", {}, said), EXPLORE.half],
      summary: rows.map(([n, width]) => EXPLORE.each(n, width)).join("; "),
      draw: curve(law.people, { title: EXPLORE.people, sideTitle: EXPLORE.halfWidth, showX: compact, showY: percent, log: true }),
      table: table(EXPLORE.widths, EXPLORE.widthColumns, rows),
    }),
  ];
}

async function refresh() {
  const mine = ++asked;
  const query = `attribute=${encodeURIComponent(attribute.value)}&step=${slider.value}&position=${position.value}`;
  try {
    const law = await ask(`dashboard/surveys/${surveyHash}/explorer?${query}`);
    if (mine !== asked) return; // a later question is on its way
    say(law);
    charts.replaceChildren(...(law.rows.length ? [element("h2", {}, EXPLORE.looks), lawChart(law)] : []), ...peopleChart(law));
    main.querySelector("[role=alert]")?.remove();
  } catch (error) {
    if (!main.querySelector("[role=alert]")) complain(main, error);
  }
}

/** Put the slider where this question's own epsilon is, or next to it, and say what that is. */
function ownEpsilon(survey, lead) {
  const part = survey.parts.find(({ name }) => name === attribute.value);
  const near = EPSILONS.map((text) => Math.abs(value(text) - value(part.epsilon)));
  slider.value = near.indexOf(Math.min(...near));
  const own = part.epsilon === survey.epsilon ? "" : part.epsilon;
  lead.textContent = EXPLORE.uses(survey.title, survey.epsilon, own);
}

async function start() {
  const survey = await ask(`dashboard/surveys/${surveyHash}/privacy`);
  document.title = EXPLORE.tab(survey.title);
  attribute.append(...survey.parts.map(({ name, question }) => element("option", { value: name }, question)));
  const lead = element("p", { class: "lead" });
  ownEpsilon(survey, lead);
  attribute.addEventListener("change", () => {
    ownEpsilon(survey, lead);
    refresh();
  });
  main.append(
    element("h1", {}, FRAME.explore),
    lead,
    element("p", {}, element("label", { for: "attribute" }, EXPLORE.question), attribute),
    element("p", {}, element("label", { for: "epsilon" }, EXPLORE.epsilon), epsilonSaid, element("br"), slider),
    element("p", {}, element("label", { for: "position" }, EXPLORE.truth), positionSaid, element("br"), position),
    words,
    charts,
  );
  for (const control of [slider, position]) control.addEventListener("input", refresh);
  await refresh();
}

start().catch((error) => complain(main, error));
