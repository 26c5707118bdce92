// A person's one-time tokens: fetched ahead of time, all at once, and spent one by one later, so that times tell nothing.

import { bodyOf, joined } from "./bytes.js";
import { InvalidParameter, Malformed, NotAdmitted, NotDelivered } from "./errors.js";
import { fromHex, toHex } from "./hexadecimal.js";
import { digest } from "./sha256.js";
import { checkedAddress } from "./session.js";
import { periodOf } from "./survey.js";
import { askFor, challengeBytes, fromBase64url, tokenFrom, tokenKeyFrom } from "./tokens.js";

const DAY = 86_400_000;
const WAIT = 60_000; // milliseconds for an issuer's answer
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", cache: "no-store" };
const REFUSED = [401, 403, 409];

/** Its own store, not a ledger's: `new Wallet(await browserStore("deniable-wallet"))`. */
export class Wallet {
  constructor(store, { crypto = globalThis.crypto } = {}) {
    Object.assign(this, { store, crypto });
  }

  #update(change) {
    return this.store.update((text) => {
      const state = text === null ? { format: "deniable-wallet", pending: {}, tokens: {} } : JSON.parse(text);
      if (state.format !== "deniable-wallet") throw new InvalidParameter("this store holds something else; give the wallet a store of its own");
      const [changed, result] = change(state);
      return [changed ? JSON.stringify(state) : null, result];
    });
  }

  /**
   * Ask the issuer for the tokens of this survey; how many are there now. Each is for one window, beginning with today's.
   *
   * Requests are stored before they are sent: after a crash or a lost answer the same ones are sent again, and cost no token.
   */
  async fetch(survey, code, { count = undefined, today = new Date(), fetch = globalThis.fetch, allowHttp = false } = {}) {
    const { admission } = survey.document;
    if (admission === undefined) throw new InvalidParameter("this survey asks for no token");
    const wanted = count ?? admission.tokens;
    if (!Number.isSafeInteger(wanted) || wanted < 1 || wanted > admission.tokens) {
      throw new InvalidParameter(`count must be a whole number from 1 to ${admission.tokens}, the tokens of one person`);
    }
    if (typeof code !== "string" || !/^[!-~]+$/.test(code)) throw new InvalidParameter("the invitation code must be one word, as it was given to you");
    const address = `${checkedAddress(admission.issuer, allowHttp, "the survey's issuer")}/token-request`;
    const key = await tokenKeyFrom(fromBase64url(admission.key), { crypto: this.crypto });
    const asked = await this.#asked(survey, key, periodsAhead(survey, today, wanted));
    if (asked.length) {
      const answers = await issued(fetch, address, code, asked.map(({ request }) => fromHex(request)));
      const tokens = [];
      for (const [place, { period, signed, inverse }] of asked.entries()) {
        const token = await tokenFrom(key, { signed: fromHex(signed), inverse: BigInt(`0x${inverse}`) }, answers[place]);
        tokens.push({ period, token: toHex(token), report: null });
      }
      await this.#update((state) => {
        const before = (state.tokens[survey.hash] ??= []);
        before.push(...tokens.filter(({ token }) => !before.some((other) => other.token === token)));
        delete state.pending[survey.hash];
        return [true, undefined];
      });
    }
    return this.left(survey.hash);
  }

  /** The requests that are under way, or new ones for what is still missing. */
  async #asked(survey, key, periods) {
    const seen = (state) => [state.pending[survey.hash] ?? null, (state.tokens[survey.hash] ?? []).length];
    const [before, have] = await this.#update((state) => [false, seen(state)]);
    if (before !== null) return before;
    const made = [];
    for (const period of periods.slice(have)) {
      const { request, signed, inverse } = await askFor(key, await surveyChallenge(survey, period));
      made.push({ period, request: toHex(request), signed: toHex(signed), inverse: inverse.toString(16) });
    }
    return this.#update((state) => {
      const [pending, now] = seen(state);
      if (pending !== null) return [false, pending]; // another tab was faster
      if (now !== have || !made.length) return [false, []];
      state.pending[survey.hash] = made;
      return [true, made];
    });
  }

  /** The token for the report under this key, always the same one; NotAdmitted when none is left for this window. */
  async token(survey, period, report) {
    return this.#update((state) => {
      const tokens = state.tokens[survey] ?? [];
      const bound = tokens.find((one) => one.report === report);
      if (bound) return [false, fromHex(bound.token)];
      const free = tokens.find((one) => one.report === null && one.period === period);
      if (!free) throw new NotAdmitted("no token is left for this window; fetch some with an invitation code: wallet.fetch(survey, code)");
      free.report = report;
      return [true, fromHex(free.token)];
    });
  }

  /** How many tokens of a survey are not yet spent. */
  left(survey) {
    return this.#update((state) => [false, (state.tokens[survey] ?? []).filter(({ report }) => report === null).length]);
  }
}

/** What a token of this survey is good for: the survey by its hash, in this one window. */
async function surveyChallenge(survey, period) {
  const context = await digest(joined("deniable survey", [0], fromHex(survey.hash), period));
  // The authority as it is written: a parsed address would lose a port that is the usual one.
  const [, issuer] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(survey.document.admission.issuer);
  return challengeBytes(issuer, context);
}

/** The windows from this day on, the first `count`. */
function periodsAhead(survey, today, count) {
  const { window } = survey.document;
  const periods = [];
  for (let day = today.getTime(); periods.length < count; day += DAY) {
    const period = periodOf(new Date(day), window);
    if (window === "survey" || periods.at(-1) !== period) periods.push(period);
  }
  return periods;
}

async function issued(fetch, address, code, requests) {
  let answer, data;
  const headers = { "Content-Type": "application/private-token-request", Authorization: `Bearer ${code}` };
  try {
    answer = await fetch(address, { ...QUIET, method: "POST", headers, body: joined(...requests), signal: AbortSignal.timeout(WAIT) });
    data = answer.status === 200 ? await bodyOf(answer) : null;
  } catch {
    throw new NotDelivered("the issuer cannot be reached; the requests are kept, fetch again later");
  }
  if (REFUSED.includes(answer.status)) {
    throw new NotAdmitted(`the issuer gives no tokens for this invitation code (status ${answer.status}): it is unknown, or was used before`);
  }
  if (data === null) throw new NotDelivered(`the issuer does not answer (status ${answer.status}); the requests are kept, fetch again later`);
  const size = data.length / requests.length;
  if (!Number.isInteger(size)) throw new Malformed("the issuer answered another number of requests");
  return requests.map((_, place) => data.slice(place * size, (place + 1) * size));
}
