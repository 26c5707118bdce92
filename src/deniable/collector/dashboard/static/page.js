// What all pages share: making elements, the header, asking the collector, and words for numbers.

import { FRAME, PAGE, WORDS } from "./words.js";

/** An element with attributes and children; text is always text, never markup. */
export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export const surveyHash = new URLSearchParams(location.search).get("survey") ?? "";

/** The pages of a survey and what they are called. */
export const PAGES = ["results", "answer", "privacy", "explore"].map((page) => [page, FRAME[page]]);

/** Put the page's parts in place and give its main element back, empty. A page of a survey without its name leads to the list. */
export function begin(current) {
  if (current !== "surveys" && !surveyHash) location.replace("./");
  const link = ([page, name]) =>
    element("li", {}, element("a", { href: `${page}?survey=${surveyHash}`, "aria-current": page === current ? "page" : null }, name));
  const nav = surveyHash ? element("nav", { "aria-label": PAGE.thisSurvey }, element("ul", {}, PAGES.map(link))) : null;
  document.querySelector("header").append(element("a", { href: "./", class: "home" }, PAGE.home), ...(nav ? [nav] : []));
  document.querySelector("footer").append(PAGE.footer);
  const main = document.querySelector("main");
  main.replaceChildren();
  return main;
}

let token = "";
/** From now on ask as the operator; the token lives in this page only, and nowhere is it written down. */
export const signIn = (given) => (token = given);

/** JSON from the collector; an Error with its words when it refuses. */
export async function ask(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) } });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ?? PAGE.status(answer.status));
  return said;
}

/** Show what went wrong, and say it to screen readers. */
export function complain(main, error) {
  // A page that could not begin has no heading yet.
  if (main.id === "main" && !main.querySelector("h1")) main.prepend(element("h1", {}, document.title));
  main.append(element("p", { role: "alert", class: "bad" }, PAGE.wrong(error.message)));
}

/** A note of the collector as a sentence. */
export const sentence = (note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}${/[.!?…]$/.test(note) ? "" : "."}`;

const COUNT = new Intl.NumberFormat(FRAME.language);
export const count = (n) => COUNT.format(n);
const COMPACT = new Intl.NumberFormat(FRAME.language, { notation: "compact" });
/** 10K, 1M: for axes, where there is little room. */
export const compact = (n) => COMPACT.format(n);
/** Hours as a clock shows them; a direction may be given as a little less than 0 or more than 24. */
export const clock = (hours) => {
  const minutes = ((Math.round(60 * hours) % 1440) + 1440) % 1440;
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
};
export const isDay = (domain) => domain.startsWith("Circle(24,") || domain === "Circle(24)";
/** A binary answer's name. */
export const answerName = (domain, label) => (domain === "Binary()" ? ({ 0: WORDS.no, 1: WORDS.yes }[label] ?? label) : label);
export const percent = (share) => PAGE.percent(Number((100 * share).toFixed(Math.abs(share) < 0.1 ? 2 : 1)));
export const short = (value) => {
  if (Math.abs(value) >= 1e6 || (value !== 0 && Math.abs(value) < 1e-4)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
};

/** Writes numbers as finely as an interval with this half-width warrants: two of its digits. */
export const asFineAs = (half) => {
  if (!(half > 0) || !Number.isFinite(half)) return short;
  const decimals = Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 12);
  return (value) => (Math.abs(value) >= 1e6 || half < 1e-4 ? short(value) : value.toFixed(decimals).replace(/^-(0(?:\.0*)?)$/, "$1"));
};

/** A table with a caption; the first cell of every row is its heading. */
export function table(caption, head, rows) {
  const row = ([first, ...rest]) => element("tr", {}, element("th", { scope: "row" }, first), rest.map((cell) => element("td", {}, cell)));
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, rows.map(row)),
    ),
  );
}
