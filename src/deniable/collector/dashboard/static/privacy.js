// The certificate, the budget, and what an attacker can infer.

import { bars, figure } from "./charts.js";
import { ask, begin, complain, element, percent, short, surveyHash, table } from "./page.js";

const main = begin("privacy");
const paragraphs = (words) => element("ul", {}, words.map((line) => element("li", {}, line)));

const facts = (rows, kind = null) => element("dl", { class: kind }, rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));

/** What few readers look for. */
const fold = (words, ...inside) => element("details", {}, element("summary", {}, words), inside);

function show(survey) {
  document.title = `${survey.title}: privacy`;
  const { certificate } = survey;
  const rows = survey.beliefs.map(({ prior, least, most, lifetime_least: low, lifetime_most: high }) => [
    percent(prior),
    `${percent(least)} to ${percent(most)}`,
    `${percent(low)} to ${percent(high)}`,
  ]);
  const drawn = survey.beliefs.map(({ prior, least, most }) => ({ label: `before ${percent(prior)}`, value: prior, low: least, high: most }));
  main.append(
    element("h1", {}, `Privacy of "${survey.title}"`),
    element("p", { class: "lead" }, survey.purpose),
    element(
      "section",
      { class: "card" },
      element("h2", {}, "Certificate"),
      element("p", { class: certificate.holds ? "good" : "bad" }, certificate.holds ? "✓ The promise holds, checked on the integers of the mechanism." : "✗ The promise does not hold."),
      element("p", {}, `No report is more than ${short(survey.odds)} times as likely for one answer as for another: e to the power of ${survey.epsilon}.`),
      element("p", {}, `One person spends at most epsilon ${survey.budget} on this survey, which changes odds by a factor of at most ${short(survey.budget_odds)}: the answer is then ${survey.hiding}.`),
      fold(
        "The numbers of the certificate",
        element("p", { class: "break" }, certificate.inequality),
        facts([
          ["Mechanism", certificate.mechanism],
          ["Epsilon promised", survey.epsilon],
          ["Epsilon of the integers", String(certificate.epsilon_exact)],
          ["Fingerprint", element("span", { class: "break" }, certificate.fingerprint)],
        ]),
      ),
    ),
    element("h2", {}, "What an attacker can infer"),
    paragraphs(survey.learns),
    element("p", {}, "How sure an observer can become of one answer after seeing a report, given how sure they were before:"),
    figure({
      caption: "The bar is the belief before; the whisker is everything the belief can become after one report.",
      summary: drawn.map(({ label, low, high }) => `${label}: between ${percent(low)} and ${percent(high)} after`).join("; "),
      draw: bars(drawn, { show: percent, title: "belief" }),
      table: table("Beliefs before and after", ["before", "after one report", "after the whole budget"], rows),
    }),
    element("h2", {}, "What is published, and when"),
    paragraphs(survey.published),
    element("h2", {}, "What is kept, and for how long"),
    element("p", {}, survey.kept),
    element("h2", {}, "What this does not protect"),
    paragraphs(survey.not_protected),
    element("h2", {}, "What malicious devices can do"),
    element("p", {}, "Local privacy means that nobody can check a report. Someone who runs many malicious devices learns nothing about others but can bias the results, each device by a limited amount:"),
    facts(survey.poisoning.map(({ question, words }) => [question, words]), "stacked"),
    element("h2", {}, "Check it yourself"),
    fold(
      "How each answer is randomized, and why",
      facts(survey.parts.map((part) => [part.question, [`${part.mechanism} on ${part.domain}, epsilon ${part.epsilon}.`, ...(part.why ? [element("p", { class: "quiet" }, `Why this mechanism? ${part.why}`)] : [])]]), "stacked"),
    ),
    element("p", {}, "The survey's name is the SHA-256 of its document. ", element("a", { href: `v1/surveys/${survey.survey}` }, "The document"), " holds every integer a device draws with; ", element("code", {}, "Survey.from_json(data, hash=…)"), " checks all of them again."),
    element("p", { class: "break" }, survey.survey),
  );
}

ask(`dashboard/surveys/${surveyHash}/privacy`).then(show, (error) => complain(main, error));
