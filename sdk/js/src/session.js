// One device and one survey: check it, answer within the budget, send until it is acknowledged.

import { bodyOf } from "./bytes.js";
import { changesOf, newMemory, nextReport, streamOf } from "./changes.js";
import { SystemCoins } from "./coins.js";
import { InvalidParameter, NotAdmitted, NotDelivered } from "./errors.js";
import { explain } from "./explain.js";
import { toHex } from "./hexadecimal.js";
import { drawAround, layersOf, permanentOf } from "./kept-layers.js";
import { SEALED_TYPE, sealedReport } from "./sealing.js";
import { LARGE, openSurvey, periodOf, turnsOf, windowNumber, windowsOf } from "./survey.js";
import { tokenHeader } from "./tokens.js";
import { encodeReport } from "./wire.js";

const LATER = [408, 425, 429, 500, 502, 503, 504];
const NO_TOKEN = [401, 403];
const TOGETHER = 1000;
const TOGETHER_BYTES = 100_000; // with its padding a request has to pass a relay
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
const PATIENCE = { attempts: 5, first: 500, most: 30_000, sleep: (milliseconds) => new Promise((done) => setTimeout(done, milliseconds)) };
const WAIT = 30_000; // milliseconds for an answer, all of it
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };

/** Answers a survey for one person. */
export class Session {
  #token = null;

  constructor(survey, ledger, collector, { fetch = globalThis.fetch, coins = new SystemCoins(), patience = {}, allowHttp = false, token = null, wallet = null } = {}) {
    if (survey.document.repeat === "permanent" && mechanismsOf(survey.document.mechanism).includes("rappor")) {
      throw new InvalidParameter("rappor keeps its own permanent bits, which this client does not; use repeat 'each-window' or 'once'");
    }
    if (survey.document.admission !== undefined && wallet === null) {
      throw new InvalidParameter("this survey takes reports only with one-time tokens: fetch them with wallet.fetch(survey, code), and give the wallet");
    }
    ledger.checkSurvey(survey);
    this.wallet = wallet;
    this.survey = survey;
    this.ledger = ledger;
    this.address = `${checkedAddress(collector, allowHttp)}/v1/surveys/${survey.hash}`;
    this.fetch = (...request) => fetch(...request);
    this.coins = coins;
    this.patience = { ...PATIENCE, ...patience };
    if (token !== null) this.useToken(token);
  }

  /** For collectors that take reports only with a token. It is kept in memory, goes with reports, and never into an address. */
  useToken(token) {
    if (typeof token !== "string" || !/^[!-~]+$/.test(token)) throw new InvalidParameter("the token must be one word, as `deniable token` printed it");
    const { protocol, hostname } = new URL(this.address);
    if (protocol !== "https:" && !LOCAL.includes(hostname)) {
      throw new InvalidParameter("a token is only sent over https:// or to this machine: on the way to others it could be read");
    }
    this.#token = token;
  }

  /** Fetch the survey with this hash from a collector, check it, and begin. */
  static async open(collector, hash, ledger, options = {}) {
    if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) throw new InvalidParameter("a survey is named by 64 hexadecimal digits");
    const fetch = options.fetch ?? globalThis.fetch;
    const address = checkedAddress(collector, options.allowHttp ?? false);
    let answer, document;
    try {
      answer = await fetch(`${address}/v1/surveys/${hash}`, { ...QUIET, signal: AbortSignal.timeout(WAIT) });
      if (answer.status === 200) document = await bodyOf(answer);
    } catch {
      throw new NotDelivered("the collector cannot be reached");
    }
    if (answer.status !== 200) throw new NotDelivered(`the collector does not give out this survey (status ${answer.status})`);
    if (document === null) throw new NotDelivered("the collector's answer is too long");
    const allowLarge = ledger.limit.compare(LARGE) > 0;
    const survey = await openSurvey(document, { hash, allowLarge });
    return new Session(survey, ledger, collector, options);
  }

  /** What will be sent and what it means, in plain words. */
  async explain() {
    const left = this.survey.budget.minus(await this.ledger.spent(this.survey.hash));
    return explain(this.survey, left, await this.ledger.left());
  }

  /** The name of the window it is now. */
  period(today = new Date()) {
    return periodOf(today, this.survey.document.window);
  }

  /** Does this device report in the window it is now? In surveys with turns only in its own, which is drawn once. */
  async isMyTurn(today = new Date()) {
    const turns = turnsOf(this.survey.document);
    if (turns === null) return true;
    const number = windowNumber(today.toISOString().slice(0, 10), this.survey.document.window);
    return number % turns === (await this.ledger.turn(this.survey.hash, turns, this.coins));
  }

  /**
   * Randomize, write down, send. A report that cannot be sent now waits in the ledger: `deliver` sends it later, the
   * same bytes under the same key. There is no second draw to choose from: that would bias the count and cost privacy.
   */
  async answer(answers, { today = new Date() } = {}) {
    const { survey } = this;
    this.#checkOpen(today.toISOString().slice(0, 10));
    const index = survey.inputOf(answers);
    const pending = !(await this.isMyTurn(today)) ? null : changesOf(survey.document.repeat) === null ? await this.#drawn(index, today) : await this.#walked(index, today);
    if (pending === null) {
      const spent = await this.ledger.spent(survey.hash);
      return { delivered: false, silent: true, report: null, spent, left: survey.budget.minus(spent) };
    }
    let delivered = true;
    try {
      await this.#send([pending]);
    } catch (error) {
      const waiting = await this.ledger.pending(survey.hash);
      delivered = !waiting.some(({ key }) => key === pending.key);
      // Refused for good: waiting would not help. Without a token: it waits, and the caller can do something about it.
      if (delivered || error instanceof NotAdmitted || !(error instanceof NotDelivered)) throw error;
    }
    const spent = await this.ledger.spent(survey.hash);
    return { delivered, silent: false, report: pending.report, spent, left: survey.budget.minus(spent) };
  }

  /** This window's report: drawn now, kept from before, or drawn around what is kept. */
  #drawn(index, today) {
    const { survey } = this;
    const encoded = (output) => toHex(encodeReport(survey.fingerprint, survey.channel, output));
    const kept = permanentOf(survey.document.repeat);
    const [first, around] = kept === null ? [] : layersOf(survey);
    const size = BigInt(survey.channel.inputs);
    return this.ledger.draw({
      survey: survey.hash,
      period: this.period(today),
      epsilon: kept ?? survey.epsilon,
      budget: survey.budget,
      make: () => (kept === null ? encoded(survey.channel.draw(index, this.coins)) : `${drawAround(first, size, index, this.coins)}`),
      permanent: kept !== null || survey.document.repeat === "permanent" ? `${index}` : null,
      around: kept === null ? null : (answer) => encoded(drawAround(around, size, BigInt(answer), this.coins)),
    });
  }

  /** This window's report of a survey of changes; null where the device is silent. */
  #walked(index, today) {
    const { survey } = this;
    const { opens, window } = survey.document;
    const stream = streamOf(survey, windowsOf(survey.document));
    const number = windowNumber(today.toISOString().slice(0, 10), window) - windowNumber(opens, window);
    return this.ledger.walk({
      survey: survey.hash,
      period: this.period(today),
      epsilon: survey.epsilon,
      budget: survey.budget,
      begin: () => newMemory(stream, this.coins),
      step: (memory) => {
        const output = nextReport(stream, memory, number, Number(index), this.coins);
        return output === null ? null : toHex(encodeReport(survey.fingerprint, survey.channel, output));
      },
    });
  }

  /**
   * Send what is waiting; returns how many reports were handed over. In a survey of changes a report belongs to its window: when that is
   * over it is forgotten, as if the device had been away, because the collector would count it in another one.
   */
  async deliver({ today = new Date() } = {}) {
    const all = await this.ledger.pending(this.survey.hash);
    const late = changesOf(this.survey.document.repeat) === null ? [] : all.filter(({ period }) => period !== this.period(today));
    for (const item of late) await this.ledger.settle(item, { refused: true });
    const waiting = all.filter((item) => !late.includes(item));
    const longest = waiting.reduce((most, { report }) => Math.max(most, report.length), 0) + 64;
    const { admission, shuffle } = this.survey.document;
    const alone = admission !== undefined || shuffle !== undefined; // a token for each, and nothing that says that two belong together
    const together = alone ? 1 : Math.max(1, Math.min(TOGETHER, Math.floor(TOGETHER_BYTES / longest)));
    for (let begin = 0; begin < waiting.length; begin += together) await this.#send(waiting.slice(begin, begin + together));
    return waiting.length;
  }

  #checkOpen(day) {
    const { opens, closes } = this.survey.document;
    if (opens !== null && day < opens) throw new InvalidParameter(`the survey opens on ${opens}`);
    if (closes !== null && day > closes) throw new InvalidParameter(`the survey closed on ${closes}`);
  }

  async #send(waiting) {
    const status = await this.#post(...(await this.#request(waiting)));
    if (NO_TOKEN.includes(status)) {
      throw new NotAdmitted(
        this.survey.document.admission === undefined
          ? "the collector takes reports only with a token of its own; the report waits: call useToken(…), then deliver()"
          : "the one-time token was not taken: it is for another survey or another window; the report waits",
      );
    }
    const refused = status !== 200;
    for (const item of waiting) await this.ledger.settle(item, { refused });
    if (refused) throw new NotDelivered(`the collector refused the report permanently (status ${status}); it will not be sent again`);
  }

  /** Where reports go, what is sent, and with which headers. A report with a token, or for a shuffler, goes alone. */
  async #request(waiting) {
    const submissions = waiting.map(({ key, report }) => ({ key, report }));
    const { hash, document } = this.survey;
    const headers = { "Content-Type": "application/json", ...(this.#token === null ? {} : { Authorization: `Bearer ${this.#token}` }) };
    if (document.admission !== undefined) headers.Authorization = tokenHeader(await this.wallet.token(hash, this.period(), submissions[0].key));
    if (document.shuffle !== undefined) {
      const body = await sealedReport(this.survey, submissions[0].key, submissions[0].report);
      return [`${this.address}/sealed`, body, { ...headers, "Content-Type": SEALED_TYPE }];
    }
    const [path, body] = submissions.length === 1 ? ["submissions", submissions[0]] : ["batches", { submissions }];
    return [`${this.address}/${path}`, JSON.stringify(body), headers];
  }

  /** The final status; tries again while the answer is "later" or there is none. */
  async #post(url, body, headers) {
    const { attempts, first, most, sleep } = this.patience;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (attempt) {
        // Between half and all of first * 2**attempt, so that devices do not return in step.
        const longest = Math.min(first * 2 ** (attempt - 1), most);
        await sleep(longest * (0.5 + this.coins.belowNumber(2 ** 20) / 2 ** 21));
      }
      try {
        const { status } = await this.fetch(url, { ...QUIET, method: "POST", headers, body, cache: "no-store", signal: AbortSignal.timeout(WAIT) });
        if (!LATER.includes(status)) return status;
      } catch {
        continue;
      }
    }
    throw new NotDelivered("the collector cannot be reached or is busy; the report waits in the ledger");
  }
}

/** The names of a recipe's mechanism and of its parts. */
function mechanismsOf(recipe) {
  return [recipe.mechanism, ...Object.values(recipe.parameters.parts ?? {}).map((part) => part.mechanism)];
}

/** https; plain http only to this machine, or when the caller insists. */
export function checkedAddress(collector, allowHttp, name = "collector") {
  const url = new URL(collector);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (allowHttp || LOCAL.includes(url.hostname)))) {
    throw new InvalidParameter(`${name} must begin with https:// (http:// is for this machine only, unless allowHttp is set)`);
  }
  if (url.username || url.password) throw new InvalidParameter(`${name} must not hold a name or a password before an @; a token goes in token`);
  return url.href.replace(/\/+$/, "");
}
