// What this device has spent and drawn. Written down before anything leaves.

import { AlreadyAnswered, BudgetSpent, InvalidParameter } from "./errors.js";
import { Fraction, ZERO, exactly, fractionFromText } from "./fraction.js";
import { fromHex, toHex } from "./hexadecimal.js";
import { hmac } from "./sha256.js";

const FORMAT = "deniable-ledger";
const KEY_BYTES = 16;

/** What all reports of one person may cost together, unless the page's own code says otherwise: as in the Python client. */
export const USUAL_LIMIT = "8";

/**
 * Every draw this device ever made, and what it cost.
 *
 * A draw, its cost and the key it will be sent under go to the store in one step, before the report is returned: a
 * crash leaves either nothing, or a report that will be sent as it is, never two draws. `limit` is the most
 * epsilon this person spends on all surveys together, under whatever names they come: 8 unless your own code says
 * otherwise. Values are not stored; for permanent answers an HMAC of the
 * value lies beside the report, with its key, so whoever can read the store can try the values of a small domain. A survey of changes is
 * the exception: only the last yes or no tells a change, so the store holds it.
 * Whoever clears the browser's storage forgets what was spent.
 */
export class Ledger {
  constructor(store, { limit = USUAL_LIMIT, crypto = globalThis.crypto } = {}) {
    this.store = store;
    this.crypto = crypto;
    this.limit = typeof limit === "string" ? fractionFromText(limit) : exactly(limit);
    if (this.limit === null || this.limit.numerator <= 0n) throw new InvalidParameter("limit must be a positive number: the most that everything sent may cost together");
  }

  /** Refuse a survey that could cost a person more, over its whole life, than the limit. */
  checkSurvey(survey) {
    const layer = lifetimeOf(survey.document.mechanism);
    const [most, what] = survey.budget.compare(layer) >= 0 ? [survey.budget, "its budget"] : [layer, "the permanent layer of its mechanism"];
    if (most.compare(this.limit) <= 0) return;
    throw new BudgetSpent(
      `the survey can cost epsilon=${most} over its life (${what}), more than your limit ${this.limit}. ` +
        "If you accept that, raise the limit in your own code: new Ledger(store, { limit: … })",
    );
  }

  #random(count) {
    return toHex(this.crypto.getRandomValues(new Uint8Array(count)));
  }

  #read(text) {
    if (text === null) return { format: FORMAT, version: 1, key: this.#random(32), spent: {}, kept: {}, answers: {} };
    const state = JSON.parse(text);
    if (state?.format !== FORMAT || state.version !== 1) throw new InvalidParameter("the store holds something else than a ledger of version 1");
    return state;
  }

  /**
   * The report for this period, drawn by `make` and written down with its cost; refused when that is too much.
   * A report drawn for this period that was never acknowledged is given back as it is. With `permanent` (the
   * encoded value as text) a report kept for the same value is used again, at no cost. With `around`, what is kept is not sent:
   * what `around` draws from it afresh is.
   */
  draw({ survey, period, epsilon, budget, make, permanent = null, around = null }) {
    return this.store.update((text) => {
      const state = this.#read(text);
      const answers = (state.answers[survey] ??= {});
      const before = answers[period];
      if (before !== undefined) return [null, waiting(before, survey, period)];
      const tag = permanent === null ? null : toHex(hmac(fromHex(state.key), new TextEncoder().encode(`${survey}\0${permanent}`)));
      const kept = (state.kept[survey] ??= {});
      let report = tag === null ? undefined : kept[tag];
      if (report === undefined) {
        this.#check(state, survey, epsilon, budget);
        report = make();
        (state.spent[survey] ??= []).push(`${epsilon}`);
        if (tag !== null) kept[tag] = report;
      }
      if (around !== null) report = around(report);
      const key = this.#random(KEY_BYTES);
      answers[period] = { key, report, state: "pending" };
      return [JSON.stringify(state), { survey, period, key, report }];
    });
  }

  /**
   * The report of a stream for this period, or null where it is silent. `begin` draws what the device remembers, once in a life, which is
   * when epsilon is spent; `step` changes it and may draw a report. All of it goes to the store in one step, before anything is sent.
   */
  walk({ survey, period, epsilon, budget, begin, step }) {
    return this.store.update((text) => {
      const state = this.#read(text);
      const answers = (state.answers[survey] ??= {});
      const before = answers[period];
      if (before !== undefined) return [null, waiting(before, survey, period)];
      const tag = toHex(hmac(fromHex(state.key), new TextEncoder().encode(`${survey}\0memory`)));
      const kept = (state.kept[survey] ??= {});
      if (kept[tag] === undefined) this.#check(state, survey, epsilon, budget);
      const memory = kept[tag] === undefined ? begin() : JSON.parse(kept[tag]);
      if (kept[tag] === undefined) (state.spent[survey] ??= []).push(`${epsilon}`);
      const report = step(memory);
      kept[tag] = JSON.stringify(memory);
      if (report === null) return [JSON.stringify(state), null];
      const key = this.#random(KEY_BYTES);
      answers[period] = { key, report, state: "pending" };
      return [JSON.stringify(state), { survey, period, key, report }];
    });
  }

  /** The device's own turn of so many, drawn once and kept. It says nothing about an answer and costs nothing. */
  turn(survey, turns, coins) {
    return this.store.update((text) => {
      const state = this.#read(text);
      const tag = toHex(hmac(fromHex(state.key), new TextEncoder().encode(`${survey}\0turn`)));
      const kept = (state.kept[survey] ??= {});
      if (kept[tag] !== undefined) return [null, Number(kept[tag])];
      const turn = Number(coins.belowNumber(turns));
      kept[tag] = `${turn}`;
      return [JSON.stringify(state), turn];
    });
  }

  #check(state, survey, epsilon, budget) {
    const limits = [
      ["the survey's lifetime budget", spent(state, survey), budget],
      ["your own limit", spent(state, null), this.limit],
    ];
    for (const [name, before, most] of limits) {
      if (before.plus(epsilon).compare(most) <= 0) continue;
      const left = most.compare(before) > 0 ? most.minus(before) : ZERO;
      throw new BudgetSpent(`this answer costs epsilon=${epsilon}, and of ${name} ${most} only ${left} is left`);
    }
  }

  /** The collector has answered for good: forget the report. What it cost stays spent. */
  settle({ survey, period, key }, { refused = false } = {}) {
    return this.store.update((text) => {
      const state = this.#read(text);
      const found = state.answers[survey]?.[period];
      if (found?.key !== key) return [null, undefined];
      state.answers[survey][period] = { state: refused ? "refused" : "sent" };
      return [JSON.stringify(state), undefined];
    });
  }

  /** What was drawn and not yet acknowledged. */
  pending(survey) {
    return this.store.update((text) => {
      const answers = Object.entries(this.#read(text).answers[survey] ?? {});
      const waiting = answers.filter(([, { state }]) => state === "pending");
      return [null, waiting.map(([period, { key, report }]) => ({ survey, period, key, report }))];
    });
  }

  /** What became of this period: null, "pending", "sent" or "refused". */
  stateOf(survey, period) {
    return this.store.update((text) => [null, this.#read(text).answers[survey]?.[period]?.state ?? null]);
  }

  /** What this person may still spend, on all surveys together. */
  async left() {
    const left = this.limit.minus(await this.spent());
    return left.compare(ZERO) > 0 ? left : ZERO;
  }

  /** The epsilons of all draws, added exactly; of one survey, or of all of them. */
  spent(survey = null) {
    return this.store.update((text) => [null, spent(this.#read(text), survey)]);
  }
}

/** The report of a period that waits; refused where it is gone. */
function waiting({ state, key, report }, survey, period) {
  if (state !== "pending") throw new AlreadyAnswered("the question was already answered in this window; a second draw would cost privacy again");
  return { survey, period, key, report };
}

/** The most that any number of reports of one value tell: the permanent level where a mechanism or one of its parts has one. */
function lifetimeOf({ mechanism, epsilon, parameters }) {
  const one = fractionFromText(epsilon);
  if (mechanism === "rappor" && parameters?.permanent !== undefined) return fractionFromText(parameters.permanent);
  const parts = Object.values(parameters?.parts ?? {}).filter((part) => typeof part?.mechanism === "string");
  const levels = parts.map((part) => [lifetimeOf(part), fractionFromText(part.epsilon)]);
  if (!levels.some(([whole, level]) => whole.compare(level) > 0)) return one;
  const all = levels.reduce((sum, [whole]) => sum.plus(whole), ZERO);
  return all.compare(one) > 0 ? all : one;
}

function spent(state, survey) {
  const draws = survey === null ? Object.values(state.spent).flat() : (state.spent[survey] ?? []);
  return draws.reduce((sum, epsilon) => sum.plus(fractionFromText(epsilon)), new Fraction(0n));
}
