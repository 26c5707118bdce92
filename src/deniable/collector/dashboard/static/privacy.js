// The certificate, the budget, and what an attacker can infer.

import { bars, figure } from "./charts.js";
import { ask, begin, complain, element, percent, short, surveyHash, table } from "./page.js";
import { PAGE, PRIVACY } from "./words.js";

const main = begin("privacy");
const paragraphs = (words) => element("ul", {}, words.map((line) => element("li", {}, line)));

const facts = (rows, kind = null) => element("dl", { class: kind }, rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));

/** What few readers look for. */
const fold = (words, ...inside) => element("details", {}, element("summary", {}, words), inside);

function show(survey) {
  document.title = PRIVACY.tab(survey.title);
  const { certificate } = survey;
  const rows = survey.beliefs.map(({ prior, least, most, lifetime_least: low, lifetime_most: high }) => [
    percent(prior),
    PAGE.to(percent(least), percent(most)),
    PAGE.to(percent(low), percent(high)),
  ]);
  const drawn = survey.beliefs.map(({ prior, least, most }) => ({ label: PRIVACY.before(percent(prior)), value: prior, low: least, high: most }));
  main.append(
    element("h1", {}, PRIVACY.title(survey.title)),
    element("p", { class: "lead" }, survey.purpose),
    element(
      "section",
      { class: "card" },
      element("h2", {}, PRIVACY.certificate),
      element("p", { class: certificate.holds ? "good" : "bad" }, certificate.holds ? PRIVACY.holds : PRIVACY.broken),
      element("p", {}, PRIVACY.odds(short(survey.odds), survey.epsilon)),
      element("p", {}, PRIVACY.budget(survey.budget, short(survey.budget_odds), survey.hiding)),
      fold(
        PRIVACY.numbers,
        element("p", { class: "break" }, certificate.inequality),
        facts([
          [PRIVACY.mechanism, certificate.mechanism],
          [PRIVACY.promised, survey.epsilon],
          [PRIVACY.exact, String(certificate.epsilon_exact)],
          [PRIVACY.fingerprint, element("span", { class: "break" }, certificate.fingerprint)],
        ]),
      ),
    ),
    element("h2", {}, PRIVACY.infer),
    paragraphs(survey.learns),
    element("p", {}, PRIVACY.sure),
    figure({
      caption: PRIVACY.bar,
      summary: drawn.map(({ label, low, high }) => PRIVACY.after(label, PAGE.between(percent(low), percent(high)))).join("; "),
      draw: bars(drawn, { show: percent, title: PRIVACY.belief }),
      table: table(PRIVACY.beliefs, PRIVACY.beliefColumns, rows),
    }),
    element("h2", {}, PRIVACY.published),
    paragraphs(survey.published),
    element("h2", {}, PRIVACY.kept),
    element("p", {}, survey.kept),
    element("h2", {}, PRIVACY.notProtected),
    paragraphs(survey.not_protected),
    element("h2", {}, PRIVACY.malicious),
    element("p", {}, PRIVACY.poisoning),
    facts(survey.poisoning.map(({ question, words }) => [question, words]), "stacked"),
    element("h2", {}, PRIVACY.check),
    fold(
      PRIVACY.how,
      facts(survey.parts.map((part) => [part.question, [PRIVACY.part(part.mechanism, part.domain, part.epsilon), ...(part.why ? [element("p", { class: "quiet" }, PRIVACY.why(part.why))] : [])]]), "stacked"),
    ),
    element("p", {}, PRIVACY.name, element("a", { href: `v1/surveys/${survey.survey}` }, PRIVACY.document), PRIVACY.integers, element("code", {}, "Survey.from_json(data, hash=…)"), PRIVACY.again),
    element("p", { class: "break" }, survey.survey),
  );
}

ask(`dashboard/surveys/${surveyHash}/privacy`).then(show, (error) => complain(main, error));
