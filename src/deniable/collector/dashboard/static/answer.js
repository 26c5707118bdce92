// Answer a survey here: the client runs in this page, and only a randomized report leaves it.

import { AlreadyAnswered, BudgetSpent, Ledger, MemoryStore, NotAdmitted, OutOfDomain, Session, Wallet, browserStore } from "../sdk/deniable.js";
import { answerForm } from "./questions.js";
import { ask, begin, complain, element, surveyHash } from "./page.js";
import { WORDS } from "./words.js";

const main = begin("answer");
const status = element("div", { role: "status", "aria-live": "polite" });
main.append(element("p", { class: "lead", id: "loading" }, WORDS.loading));

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
    element("p", {}, WORDS.tokenNeeded),
    element("p", {}, element("label", { for: "token" }, WORDS.token), input),
    element("button", { type: "submit" }, WORDS.sendWithToken),
    element("p", { class: "quiet" }, WORDS.tokenMeans),
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

function receipt({ delivered, silent, report, left }, ofChanges) {
  const spent = ofChanges ? WORDS.paid : WORDS.left(left);
  if (silent) return element("div", { class: "card" }, element("p", {}, element("strong", { class: "good", id: "outcome" }, ofChanges ? WORDS.noted : WORDS.silent)), element("p", {}, spent));
  const words = delivered ? WORDS.thanks : WORDS.unreachable;
  return element(
    "div",
    { class: "card" },
    element("p", {}, element("strong", { class: delivered ? "good" : "bad", id: "outcome" }, words)),
    element("p", {}, spent),
    element("details", {}, element("summary", {}, WORDS.sent), element("p", { class: "break" }, report), element("p", { class: "quiet" }, WORDS.sentMeans)),
    element("p", {}, element("a", { href: `results?survey=${surveyHash}` }, WORDS.results)),
  );
}

function explanation(words) {
  const lines = [words.staying, words.strategy, words.meaning, words.repeating, words.keeping, words.releasing];
  return element(
    "section",
    { class: "card", "aria-labelledby": "before" },
    element("h2", { id: "before" }, WORDS.before),
    picture(),
    element("ul", {}, lines.filter(Boolean).map((line) => element("li", {}, line))),
    element("details", {}, element("summary", {}, WORDS.exactly), element("p", {}, words.sending), element("p", {}, words.budget), element("p", { class: "good" }, `✓ ${words.checked}`)),
  );
}

/** What happens to the answer, as four steps in a row. */
function picture() {
  const steps = WORDS.picture.flatMap((step, i) => [i ? element("span", { "aria-hidden": "true" }, " → ") : null, element("span", { class: "step" }, step)]);
  return element("p", { class: "steps", role: "img", "aria-label": WORDS.pictureMeans }, steps);
}

const link = (href, words) => element("p", {}, element("a", { href }, words));

/** A survey that takes no reports says so before anything is drawn. */
function over({ next_round: following }) {
  return element(
    "div",
    { class: "card", id: "outcome" },
    element("p", {}, element("strong", {}, WORDS.closed)),
    following ? link(`answer?survey=${following}`, WORDS.nextRound) : null,
    link(`results?survey=${surveyHash}`, WORDS.results),
  );
}

function warning() {
  const near = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  if (location.protocol === "https:" || near) return [];
  return [element("p", { role: "alert", class: "bad" }, WORDS.plainHttp)];
}

async function start() {
  const token = tokenFromAddress();
  const collector = new URL(".", location.href).href.replace(/\/$/, "");
  const now = await ask(`v1/surveys/${encodeURIComponent(surveyHash)}/state`);
  const session = await Session.open(collector, surveyHash, new Ledger(await browserStore()), { allowHttp: true, token, wallet: new Wallet(new MemoryStore()) });
  const { survey } = session;
  const words = await session.explain();
  document.title = WORDS.answerTitle(words.title);
  if (!now.open) {
    main.replaceChildren(element("h1", {}, words.title), element("p", { class: "lead" }, words.purpose), over(now));
    return;
  }
  if (survey.document.admission !== undefined || survey.document.shuffle !== undefined) {
    const said = element("p", { class: "card", id: "outcome" }, WORDS.elsewhere);
    main.replaceChildren(element("h1", {}, words.title), element("p", { class: "lead" }, words.purpose), said, link(`results?survey=${surveyHash}`, WORDS.results));
    return;
  }
  main.replaceChildren(element("h1", {}, words.title), element("p", { class: "lead" }, words.purpose), ...warning(), explanation(words), status);
  const before = await session.ledger.stateOf(survey.hash, session.period());
  if (before === "sent" || before === "refused") {
    status.append(element("p", { class: "card", id: "outcome" }, WORDS.answered));
    return;
  }
  if (before === "pending") {
    const again = element("button", { type: "button" }, WORDS.sendWaiting);
    again.addEventListener("click", () => deliver(session, again));
    status.append(element("p", { class: "card" }, WORDS.waiting, again));
    return;
  }
  if (!(await session.isMyTurn())) {
    const spent = await session.ledger.spent(survey.hash);
    status.append(receipt({ silent: true, left: survey.budget.minus(spent) }, false));
    return;
  }
  const { form, read } = answerForm(survey);
  main.append(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(session, form, read);
  });
  form.querySelector("#decline").addEventListener("click", () => {
    form.remove();
    status.replaceChildren(element("p", { class: "card", id: "outcome", tabindex: "-1" }, WORDS.declined));
    status.firstElementChild.focus();
  });
}

async function deliver(session, button) {
  button.disabled = true;
  try {
    await session.deliver();
    status.replaceChildren(element("p", { class: "card good", id: "outcome" }, WORDS.counted));
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
    const sent = await session.answer(read());
    form.remove();
    status.replaceChildren(receipt(sent, session.survey.document.repeat.startsWith("changes:")));
    status.firstElementChild.setAttribute("tabindex", "-1");
    status.firstElementChild.focus();
  } catch (error) {
    if (error instanceof NotAdmitted) {
      form.remove();
      askForToken(session);
      return;
    }
    button.disabled = error instanceof AlreadyAnswered || error instanceof BudgetSpent;
    const words = error instanceof OutOfDomain ? new Error(WORDS.missing) : error;
    complain(status, words);
  }
}

start().catch((error) => {
  document.querySelector("#loading")?.remove();
  complain(main, error instanceof BudgetSpent ? new Error(WORDS.overLimit) : error);
});
