// What the public sums say, with intervals; they move in the survey's own steps.

import { bars, clockTicks, dots, figure, histogram, map, rose, ticks } from "./charts.js";
import { groupLinks, groupsOf } from "./groups.js";
import { operatorFold } from "./operator.js";
import { inWords } from "./sentences.js";
import { trendOf, windowsOf, yesByWindow } from "./trend.js";
import { answerName, ask, asFineAs, begin, clock, complain, count, element, isDay, percent, sentence, short, surveyHash, table } from "./page.js";
import { FRAME, PAGE, RESULTS } from "./words.js";

const EVERY = 5000;
const SHOWN = 24;
const main = begin("results");
const heading = element("h1", {}, FRAME.results);
const number = element("span", { class: "waiting" }, RESULTS.loading);
const unit = element("span", { hidden: true });
const said = element("p", { role: "status" }, number, unit);
const over = element("p", { hidden: true });
const policy = element("p", { class: "quiet" });
const whiskers = element("p", { class: "quiet" });
const windows = element("p");
const links = element("p");
const body = element("div");
const files = element("p", { class: "quiet" });
let everything = false;
const operator = operatorFold((signedIn) => {
  everything = signedIn;
  last = "";
  refresh(false);
});
main.append(heading, said, over, policy, whiskers, links, windows, body, files, operator);
let last = "";
let compared = "";
let hasGroups = true;
let chosen = "";
let latest = [];
/** The cells of every map on the page, by the name of its question. */
const maps = new Map();

const TITLES = RESULTS.views;

function rowsOf(view) {
  return view.rows.map((row) => ({ ...row, low: row.low ?? row.value, high: row.high ?? row.value }));
}

/** Where the answers to a question can lie, if it asks for a number. */
function endsOf({ views }) {
  const bins = views.find(({ what }) => what === "distribution")?.rows ?? [];
  return bins.length ? [bins[0].start, bins.at(-1).end] : null;
}

/** A mean where people's answers can lie: an unbiased estimate may be beyond. */
function within(rows, ends) {
  const inside = (number) => Math.min(Math.max(number, ends[0]), ends[1]);
  return ends === null ? rows : rows.map((row) => ({ ...row, value: inside(row.value), low: inside(row.low), high: inside(row.high) }));
}

/** What a row is called: an answer, or a part of the day by the clock. */
function labelOf({ domain }, row) {
  if (isDay(domain) && row.label === "direction") return RESULTS.meanTime;
  return isDay(domain) && row.start !== undefined ? `${clock(row.start)} … ${clock(row.end)}` : answerName(domain, row.label);
}

function view(attribute, seen, level) {
  if (seen.what === "trend") return [yesByWindow(attribute, seen, level)];
  const given = rowsOf(seen).map((row) => ({ ...row, label: labelOf(attribute, row) }));
  const rows = seen.what === "mean" ? within(given, endsOf(attribute)) : given;
  const shares = ["frequency", "distribution", "words", "cumulative", "items", "sizes", "keys", "key-distributions", "tables"].includes(seen.what);
  const day = isDay(attribute.domain);
  const named = day && seen.what === "direction" ? RESULTS.timeOfDay : TITLES[seen.what];
  const title = attribute.views.length > 1 ? [element("h3", {}, named)] : [];
  if (!rows.length) return [...title, element("p", { class: "quiet" }, RESULTS.noWord)];
  const narrowest = Math.min(...rows.map((row) => (row.high - row.low) / 2));
  const show = shares ? percent : ["mean", "quantiles"].includes(seen.what) ? asFineAs(narrowest) : short;
  const hours = seen.what === "direction" && day ? clock : short;
  const sure = RESULTS.intervals(Math.round(100 * level));
  const cells = (row, i) => [row.value, row.low, row.high].map(seen.what === "direction" && i === 0 ? hours : show);
  const whole = table(RESULTS.with(named, sure), PAGE.columns, rows.slice(0, 500).map((row, i) => [row.label, ...cells(row, i)]));
  const top = rows.slice().sort((a, b) => b.value - a.value);
  // In their order, and of very many some that lie evenly between them.
  const some = seen.what === "cumulative" ? rows.filter((_, i) => i % Math.ceil(rows.length / SHOWN) === 0) : top.slice(0, SHOWN);
  const circular = attribute.domain.startsWith("Circle");
  const draw =
    seen.what === "distribution"
      ? circular
        ? rose(rows, { show: percent, name: day ? clock : short })
        : histogram(rows, { show: percent, title: RESULTS.answer })
      : shares
        ? bars(rows.length > SHOWN ? some : rows, { show: percent, title: RESULTS.share })
        : dots(rows, { ends: endsOf(attribute) });
  const more = rows.length > SHOWN && shares && !["distribution", "cumulative"].includes(seen.what) ? RESULTS.largest(SHOWN, count(rows.length)) : "";
  const impossible = shares && rows.some((row) => row.value < 0 || row.value > 1);
  const moved = rows[0].value !== given[0].value;
  const honest = impossible ? RESULTS.unbiased : moved ? RESULTS.beyond(show(given[0].value)) : "";
  const plain = inWords(seen.what, rows, seen.what === "direction" ? hours : show);
  const caption = [element("strong", {}, plain), `${more}${honest}`];
  const method = RESULTS.method(seen.method, attribute.mechanism);
  if (seen.what === "direction") {
    // Two numbers of different kinds, each on an axis of its own.
    const each = rows.map((row, i) => {
      const said = i ? show : hours;
      const words = i ? [RESULTS.alike] : caption;
      const summary = RESULTS.row(row.label, said(row.value), PAGE.between(said(row.low), said(row.high)));
      return figure({ caption: words, summary, draw: dots([row], { show: said, marks: said === clock ? clockTicks : ticks }), table: i ? whole : null, method: i ? method : null });
    });
    return [...title, ...each];
  }
  const summary = RESULTS.summary(attribute.question, named, top[0].label, show(top[0].value), PAGE.between(show(top[0].low), show(top[0].high)));
  return [
    ...title,
    figure({ caption, summary, draw, table: whole, method }),
  ];
}

const twoDigits = (half) => short(Number(half.toPrecision(2)));

/** How the widest interval of an attribute shrinks as more people answer, in a sentence. */
function shrinking(attribute) {
  const [ends, cells] = [endsOf(attribute), Number(/cells=(\d+)/.exec(attribute.domain)?.[1] ?? 1 << 16)];
  const first = attribute.views.find(({ what }) => ["frequency", "mean"].includes(what)) ?? attribute.views[0];
  if (!first.rows.length || first.what === "trend") return [];
  const half = Math.max(...rowsOf(first).slice(0, first.what === "direction" ? 1 : undefined).map((row) => (row.high - row.low) / 2));
  if (!(half > 0) || attribute.n < 2) return [];
  const time = (hours) => RESULTS.minutes(Math.round(60 * hours));
  const show = first.what === "direction" && isDay(attribute.domain) ? time : first.what === "mean" || first.what === "direction" ? short : percent;
  const whose = RESULTS.intervalOf[show === time ? "time" : first.what] ?? RESULTS.widest;
  // What answers lose by being rounded to a step does not shrink.
  const rounding = first.what === "mean" && ends ? Math.min(half, (ends[1] - ends[0]) / cells / 2) : 0;
  return [element("p", { class: "quiet" }, RESULTS.narrower(count(4 * attribute.n), whose, ...[half, (half - rounding) / 2 + rounding].map(show === short ? twoDigits : show)))];
}

const spoken = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));

const where = ({ bounds: [left, lower, right, upper] }) => RESULTS.where(PAGE.to(short(left), short(right)), PAGE.to(short(lower), short(upper)));

/** Everything on the page as a file: rows for a spreadsheet, or what the collector said. */
function downloads(results, groups) {
  if (results.waiting) return;
  latest = [results, groups];
  const lines = results.attributes.flatMap((attribute) =>
    attribute.views.flatMap(({ what, rows }) =>
      rows.map((row) => [attribute.question, what, row.label, row.value, row.low, row.high, attribute.n, results.epsilon, results.as_of, results.window, ""]),
    ),
  );
  const reports = Object.fromEntries(groups.groups.map(({ name, n }) => [name, n]));
  const between = groups.attributes.flatMap(({ question, what, rows }) =>
    rows.map((row) => [question, RESULTS.betweenGroups(what), row.label, row.value, row.low, row.high, reports[row.group], results.epsilon, results.as_of, "", row.group]),
  );
  const cells = results.attributes.flatMap(({ name, question }) => {
    const shares = maps.get(name) ?? { cells: [] };
    return shares.cells.map((cell) => [question, "map", where(cell), cell.value, cell.low, cell.high, shares.n, results.epsilon, results.as_of, "", ""]);
  });
  const csv = [RESULTS.file, ...lines, ...cells, ...between].map((line) => line.map(spoken).join(",")).join("\r\n");
  const link = (words, kind, text, end) => {
    return element("a", { download: `${surveyHash.slice(0, 12)}.${end}`, href: URL.createObjectURL(new Blob([text], { type: kind })) }, words);
  };
  for (const old of files.querySelectorAll("a")) URL.revokeObjectURL(old.href);
  files.replaceChildren(RESULTS.download, link("CSV", "text/csv", csv, "csv"), " · ", link("JSON", "application/json", JSON.stringify(groups.groups.length ? { ...results, between_groups: groups } : results, null, 2), "json"));
}

async function mapOf(attribute, place) {
  try {
    const shares = await ask(`dashboard/surveys/${surveyHash}/map?attribute=${encodeURIComponent(attribute.name)}`);
    if (!shares.cells.length) {
      place.replaceChildren(element("p", { class: "quiet" }, sentence(shares.note)));
      if (shares.note.includes("being made")) setTimeout(() => place.isConnected && mapOf(attribute, place), 2 * EVERY);
      return;
    }
    maps.set(attribute.name, shares);
    downloads(...latest);
    const fullest = shares.cells.slice().sort((a, b) => b.value - a.value);
    const rows = fullest.map((cell) => [where(cell), percent(cell.value), percent(cell.low), percent(cell.high)]);
    place.replaceChildren(
      element("h3", {}, RESULTS.map),
      figure({
        caption: [element("strong", {}, RESULTS.fullest(where(fullest[0]), percent(fullest[0].value), PAGE.between(percent(fullest[0].low), percent(fullest[0].high)))), RESULTS.mapFrom(count(shares.n))],
        method: RESULTS.mapMethod(shares.method),
        summary: RESULTS.fullestCell(attribute.question, where(fullest[0]), percent(fullest[0].value), PAGE.between(percent(fullest[0].low), percent(fullest[0].high))),
        draw: map(shares.cells, { show: percent }),
        table: table(RESULTS.cells, RESULTS.cellColumns, rows),
      }),
    );
  } catch (error) {
    place.replaceChildren(element("p", { class: "quiet" }, sentence(error.message)));
  }
}

/** Under each question how it changed, when all windows are shown together. */
async function trends(results) {
  const names = Object.keys(results.windows).filter(Boolean).sort();
  if (results.window || names.length < 2) return;
  const windows = await windowsOf(names);
  for (const attribute of results.attributes) {
    const place = body.querySelector(`#trend-${CSS.escape(attribute.name)}`);
    place?.replaceChildren(...trendOf(windows, attribute, results.level));
  }
}

/** Under each question how the groups differ, when the survey has groups and all windows are shown together. */
function groupsBelow(groups, drawn) {
  const key = JSON.stringify(groups);
  if (!groups.groups.length || (key === compared && !drawn)) return;
  compared = key;
  links.replaceChildren(...groupLinks(groups));
  for (const { name } of groups.attributes) body.querySelector(`#groups-${CSS.escape(name)}`)?.replaceChildren(...(chosen ? [] : groupsOf(groups, name)));
}

function section(attribute, { level, n: all }) {
  const whole = element("section", {}, element("h2", {}, attribute.question), attribute.n === all ? null : element("p", { class: "quiet" }, RESULTS.some(count(attribute.n))));
  if (attribute.note) whole.append(element("p", {}, sentence(attribute.note)));
  whole.append(...attribute.views.flatMap((seen) => view(attribute, seen, level)));
  if (attribute.views.length) whole.append(...shrinking(attribute));
  else if (!attribute.note) {
    const place = element("div", {}, element("p", { class: "quiet" }, RESULTS.working));
    whole.append(place);
    mapOf(attribute, place);
  }
  whole.append(element("div", { id: `groups-${attribute.name}` }), element("div", { id: `trend-${attribute.name}` }));
  return whole;
}

function chooser(results) {
  const names = Object.keys(results.windows).filter(Boolean).sort();
  if (!names.length || windows.childElementCount) return;
  const select = element("select", { id: "window" }, element("option", { value: "" }, RESULTS.together), names.map((name) => element("option", { value: name }, name)));
  select.addEventListener("change", () => {
    chosen = select.value;
    refresh(false);
  });
  windows.append(element("label", { for: "window" }, RESULTS.window), select);
}

/** A survey that takes no more reports says so, and where it goes on. */
async function closed() {
  const { open, next_round: following } = await ask(`v1/surveys/${encodeURIComponent(surveyHash)}/state`);
  if (open) return;
  over.append(RESULTS.closed, ...(following ? [" ", element("a", { href: `results?survey=${following}` }, RESULTS.nextRound)] : []));
  over.hidden = false;
}

async function refresh(again = true) {
  try {
    const results = await ask(`v1/surveys/${surveyHash}/estimates${chosen ? `?window=${encodeURIComponent(chosen)}` : ""}`);
    heading.textContent = results.title;
    document.title = RESULTS.title(results.title);
    const shown = results.waiting || count(results.n);
    if (number.textContent !== shown) number.textContent = shown;
    number.className = results.waiting ? "waiting" : "count";
    unit.hidden = Boolean(results.waiting);
    unit.textContent = RESULTS.reports(results.n);
    said.hidden = false;
    policy.textContent = RESULTS.policy(results.epsilon, `${everything ? RESULTS.everything : results.as_of ? RESULTS.asOf(results.as_of) : ""}${results.release}`);
    const groups = hasGroups ? await ask(`v1/surveys/${surveyHash}/groups`) : { groups: [], attributes: [] };
    hasGroups = groups.groups.length > 0;
    downloads(results, groups);
    if (results.waiting) {
      body.replaceChildren(element("p", {}, RESULTS.tooFew));
    } else chooser(results);
    const key = `${results.n} ${results.window} ${results.as_of}`;
    const drawn = key !== last && !results.waiting;
    if (drawn) {
      last = key;
      const sure = Math.round(100 * results.level);
      whiskers.textContent = RESULTS.whiskers(sure);
      whiskers.hidden = !results.attributes.some(({ views }) => views.length);
      // Open tables stay open while the numbers change.
      const open = [...body.querySelectorAll("details")].map((details) => details.open);
      body.replaceChildren(...results.attributes.map((attribute) => section(attribute, results)));
      [...body.querySelectorAll("details")].forEach((details, i) => (details.open = open[i] ?? false));
      groupsBelow(groups, true);
      await trends(results);
    } else groupsBelow(groups, false);
    main.querySelector("[role=alert]")?.remove();
  } catch (error) {
    said.hidden = !last;
    if (!main.querySelector("[role=alert]")) {
      complain(main, error);
      heading.after(main.lastElementChild);
    }
  }
  if (again) setTimeout(refresh, document.hidden ? 10 * EVERY : EVERY);
}

refresh();
closed().catch(() => {}); // what is wrong, the numbers say
