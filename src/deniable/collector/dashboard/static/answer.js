// Answer a survey here: the client runs in this page, and only a randomized report leaves it.

import { AlreadyAnswered, BudgetSpent, Ledger, NotAdmitted, OutOfDomain, Session, browserStore } from "../sdk/index.js";
import { answerForm } from "./questions.js";
import { begin, complain, element, surveyHash } from "./page.js";

const main = begin("answer");
const status = element("div", { role: "status", "aria-live": "polite" });

/** A token from the address's fragment, which no server sees; taken out of the address at once, and kept in this page only. */
function tokenFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) history.replaceState(null, "", location.pathname + location.search);
  return given;
}

/** The field for a token, when the collector wants one; the report is drawn already and waits. */
function askForToken(session) {
  const input = element("input", { type: "password", id: "token", required: true, autocomplete: "off", spellcheck: "false" });
  const form = element(
    "form",
    { class: "card", autocomplete: "off" },
    element("p", {}, "This collector takes reports only with a token of its own. Your report is written down and waits."),
    element("p", {}, element("label", { for: "token" }, "Token "), input),
    element("button", { type: "submit" }, "Send with this token"),
    element("p", { class: "quiet" }, "With a token of yours the collector can tell that the report is yours. It still cannot tell your answer."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      session.useToken(input.value.trim());
    } catch (error) {
      complain(form, error);
      return;
    }
    deliver(session, form.querySelector("button"));
  });
  status.replaceChildren(form);
  input.focus();
}

function receipt({ delivered, report, left }) {
  const words = delivered
    ? "Thank you. Your report was counted."
    : "Your report is written down and waits: the collector cannot be reached now. Come back later to send it.";
  return element(
    "div",
    { class: "card" },
    element("p", {}, element("strong", { class: delivered ? "good" : "bad", id: "outcome" }, words)),
    element("p", {}, `Of your budget for this survey, ${left} is left.`),
    element("details", {}, element("summary", {}, "What was sent"), element("p", { class: "break" }, report), element("p", { class: "quiet" }, "These bytes and a random key. They say what the dice said; your answer is not in them.")),
    element("p", {}, element("a", { href: `results?survey=${surveyHash}` }, "See the results")),
  );
}

function explanation(words) {
  const lines = [words.staying, words.sending, words.strategy, words.meaning, words.repeating, words.keeping, words.releasing, words.budget];
  return element(
    "section",
    { class: "card", "aria-labelledby": "before" },
    element("h2", { id: "before" }, "Before you answer"),
    element("ul", {}, lines.filter(Boolean).map((line) => element("li", {}, line))),
    element("p", { class: "good" }, `✓ ${words.checked}`),
  );
}

function warning() {
  const near = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  if (location.protocol === "https:" || near) return [];
  return [element("p", { role: "alert", class: "bad" }, "This page came over plain http: somebody on the network could have changed it. Ask for an https address.")];
}

async function start() {
  const token = tokenFromAddress();
  const collector = new URL(".", location.href).href.replace(/\/$/, "");
  const session = await Session.open(collector, surveyHash, new Ledger(await browserStore()), { allowHttp: true, token });
  const { survey } = session;
  const words = await session.explain();
  document.title = `${words.title}: answer`;
  main.append(element("h1", {}, words.title), element("p", { class: "lead" }, words.purpose), ...warning(), explanation(words), status);
  const before = await session.ledger.stateOf(survey.hash, session.period());
  if (before === "sent" || before === "refused") {
    status.append(element("p", { class: "card", id: "outcome" }, "This device has answered already. A second report would cost privacy again."));
    return;
  }
  if (before === "pending") {
    const again = element("button", { type: "button" }, "Send the waiting report");
    again.addEventListener("click", () => deliver(session, again));
    status.append(element("p", { class: "card" }, "A report from this device waits to be sent. ", again));
    return;
  }
  const { form, read } = answerForm(survey);
  main.append(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(session, form, read);
  });
}

async function deliver(session, button) {
  button.disabled = true;
  try {
    await session.deliver();
    status.replaceChildren(element("p", { class: "card good", id: "outcome" }, "Your report was counted."));
  } catch (error) {
    button.disabled = false;
    if (error instanceof NotAdmitted) askForToken(session);
    else complain(status, error);
  }
}

async function submit(session, form, read) {
  const button = form.querySelector("button");
  button.disabled = true;
  status.replaceChildren();
  try {
    const found = await session.answer(read());
    form.remove();
    status.replaceChildren(receipt(found));
    status.firstElementChild.setAttribute("tabindex", "-1");
    status.firstElementChild.focus();
  } catch (error) {
    if (error instanceof NotAdmitted) {
      form.remove();
      askForToken(session);
      return;
    }
    button.disabled = error instanceof AlreadyAnswered || error instanceof BudgetSpent;
    const words = error instanceof OutOfDomain ? new Error("an answer is missing or outside what is asked for") : error;
    complain(status, words);
  }
}

start().catch((error) => complain(main, error));
