// Every survey of this collector, with the counts that are public.

import { ask, begin, complain, count, element, PAGES } from "./page.js";
import { FRAME, SURVEYS } from "./words.js";

const EVERY = 3000;
const main = begin("surveys");
const list = element("ul", { class: "cards" });
const shown = new Map();
main.append(
  element("h1", {}, FRAME.surveys),
  element("p", { class: "lead" }, SURVEYS.lead),
  list,
);

function card(survey) {
  const n = element("span");
  const state = element("span", { class: "tag" });
  const link = (page, name) => element("a", { href: `${page}?survey=${survey.hash}`, "aria-label": SURVEYS.of(name, survey.title) }, name);
  list.append(
    element(
      "li",
      { class: "card" },
      element("h2", {}, element("a", { href: `results?survey=${survey.hash}` }, survey.title)),
      element("p", {}, n, " ", state),
      element("p", {}, PAGES.flatMap(([page, name], i) => [i ? " · " : "", link(page, name)])),
      element("p", { class: "quiet break" }, survey.hash),
    ),
  );
  return { n, state };
}

const more = element("button", { type: "button", hidden: "" }, SURVEYS.more);
let pages = 1;
more.addEventListener("click", () => {
  pages += 1;
  look();
});
main.append(more);

async function look() {
  try {
    const surveys = [];
    let after = "";
    for (let page = 0; page < pages && after !== null; page += 1) {
      const answer = await ask(`v1/surveys${after ? `?after=${after}` : ""}`);
      surveys.push(...answer.surveys);
      after = answer.after;
    }
    more.hidden = after === null;
    for (const survey of surveys) {
      if (!shown.has(survey.hash)) shown.set(survey.hash, card(survey));
      const { n, state } = shown.get(survey.hash);
      n.className = survey.waiting ? "waiting" : "count";
      n.textContent = survey.waiting || SURVEYS.reports(survey.n, count(survey.n));
      state.textContent = survey.open ? SURVEYS.open : SURVEYS.closed;
    }
    if (!surveys.length && !list.childElementCount) list.append(element("li", {}, SURVEYS.none));
    main.querySelector("[role=alert]")?.remove();
  } catch (error) {
    if (!main.querySelector("[role=alert]")) complain(main, error);
  }
}

async function refresh() {
  await look();
  setTimeout(refresh, document.hidden ? 10 * EVERY : EVERY);
}

refresh();
