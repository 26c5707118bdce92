// Move epsilon and watch: what a report looks like, how much it errs, what it gives away.

import { bars, curve, figure, map } from "./charts.js";
import { answerName, ask, begin, compact, complain, count, element, percent, short, surveyHash, table } from "./page.js";

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

function say(law) {
  slider.setAttribute("aria-valuetext", `epsilon ${value(law.epsilon)}, odds ${short(law.odds)}`);
  const truth = answerName(law.domain, law.value);
  position.setAttribute("aria-valuetext", `true answer ${truth}`);
  epsilonSaid.textContent = ` ${value(law.epsilon)}`;
  positionSaid.textContent = ` ${truth}`;
  words.replaceChildren(
    element("p", {}, `Odds: seeing a report can change the odds between two answers by a factor of at most ${short(law.odds)}. A belief of 50 % can rise to ${percent(law.surest)}, but no further.`),
    ...(law.truth !== undefined ? [element("p", {}, `A report supports the true answer with probability ${percent(law.truth)}, and any other answer with probability ${percent(law.other)}.`)] : []),
    ...(law.error !== null ? [element("p", {}, `Expected error: on average, a single report is ${short(law.error)} away from this answer.`)] : []),
    ...(law.note ? [element("p", { class: "quiet" }, law.note)] : []),
  );
}

function lawChart(law) {
  const caption = `One report of ${law.mechanism} when the true answer is ${answerName(law.domain, law.value)}`;
  if (law.kind === "bars") {
    const rows = law.rows.map(([label, chance]) => ({ label: answerName(law.domain, label), value: chance }));
    return figure({ caption, summary: rows.map((row) => `${row.label} ${percent(row.value)}`).join(", "), draw: bars(rows, { show: percent, title: "how often a report supports it" }), table: table(caption, ["answer", "chance"], rows.map((row) => [row.label, percent(row.value)])) });
  }
  if (law.kind === "map") {
    const [left, right, lower, upper] = law.frame;
    const [side, across] = [(upper - lower) / law.rows.length, (right - left) / law.rows[0].length];
    const cells = law.rows.flatMap((row, j) => row.map((value, i) => ({ bounds: [left + i * across, lower + j * side, left + (i + 1) * across, lower + (j + 1) * side], value })));
    const likeliest = cells.slice().sort((a, b) => b.value - a.value).slice(0, 20);
    const rows = likeliest.map(({ bounds: [l, b, r, t], value }) => [`${short(l)} to ${short(r)}, ${short(b)} to ${short(t)}`, percent(value)]);
    return figure({ caption, summary: "Chances of reported cells, strongest around the true place.", draw: map(cells, { show: percent }), table: table("The 20 likeliest cells", ["x, y", "chance"], rows) });
  }
  const highest = law.rows.reduce((a, b) => (b[1] > a[1] ? b : a));
  const rows = law.rows.filter((_, i) => i % 5 === 0).map(([at, height]) => [short(at), short(height)]);
  return figure({ caption, summary: `Highest around ${short(highest[0])}.`, draw: curve(law.rows, { title: law.kind === "circle" ? "reported direction" : "reported number", sideTitle: "probability per unit", filled: true }), table: table(caption, ["reported", "density"], rows) });
}

function peopleChart(law) {
  if (!law.people.length) return [];
  const rows = law.people.map(([n, half]) => [count(n), `± ${percent(half)}`]);
  const [people, half] = rows[Math.floor(rows.length / 2)];
  const said = `When ${people} people answer, the share of a rare answer is known to within ${half}; four times as many people halve that.`;
  return [
    element("h2", {}, "Expected error of a share"),
    figure({
      caption: [element("strong", {}, said), " Half the 95 % interval, by how many people answer."],
      summary: rows.map(([n, width]) => `${n} people: ${width}`).join("; "),
      draw: curve(law.people, { title: "people", sideTitle: "± half width", showX: compact, showY: percent, log: true }),
      table: table("Half width of a 95 % interval", ["people", "half width"], rows),
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
    charts.replaceChildren(element("h2", {}, "What one report looks like"), ...(law.rows.length ? [lawChart(law)] : []), ...peopleChart(law));
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
  const share = part.epsilon === survey.epsilon ? "" : `, of which this question gets ${part.epsilon}`;
  lead.textContent = `"${survey.title}" uses epsilon ${survey.epsilon}${share}. Less means more privacy and more noise.`;
}

async function start() {
  const survey = await ask(`dashboard/surveys/${surveyHash}/privacy`);
  document.title = `${survey.title}: epsilon explorer`;
  attribute.append(...survey.parts.map(({ name, question }) => element("option", { value: name }, question)));
  const lead = element("p", { class: "lead" });
  ownEpsilon(survey, lead);
  attribute.addEventListener("change", () => {
    ownEpsilon(survey, lead);
    refresh();
  });
  main.append(
    element("h1", {}, "Epsilon explorer"),
    lead,
    element("p", {}, element("label", { for: "attribute" }, "Question "), attribute),
    element("p", {}, element("label", { for: "epsilon" }, "Epsilon"), epsilonSaid, element("br"), slider),
    element("p", {}, element("label", { for: "position" }, "True answer"), positionSaid, element("br"), position),
    words,
    charts,
  );
  for (const control of [slider, position]) control.addEventListener("input", refresh);
  await refresh();
}

start().catch((error) => complain(main, error));
