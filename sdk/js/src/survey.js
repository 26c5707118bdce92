// Somebody else's survey, checked before anything is answered: hash, shape, integers, privacy.

import { channelFrom } from "./channels/index.js";
import { changesOf, streamOf } from "./changes.js";
import { domainFrom, inputOf, partsOf } from "./domains/index.js";
import { DeniableError, Malformed, NotTrusted, OutOfDomain } from "./errors.js";
import { allows } from "./exponential.js";
import { Fraction, fractionFromText } from "./fraction.js";
import { toHex } from "./hexadecimal.js";
import { canonicalJson, parseJson } from "./json.js";
import { layersOf, permanentOf } from "./kept-layers.js";
import { digest } from "./sha256.js";
import { fromBase64url } from "./tokens.js";

const FIELDS = ["attributes", "budget", "channel", "closes", "epsilon", "fingerprint", "format", "keep_reports", "mechanism"];
FIELDS.push("opens", "purpose", "release", "repeat", "strategy", "title", "version", "window");
const OPTIONAL = ["admission", "shuffle"];
const STRATEGIES = { split: "product", "sample-one": "sample-one", "fake-data": "rs-fd" };
const REPEATS = ["once", "permanent", "each-window", "random-window"];
const TURNS = /^turns:([1-9]\d{0,3})$/;
const MOST_TURNS = 1000;
const WINDOWS = ["survey", "day", "week", "month"];
const MOST_BYTES = 1 << 24;
const MOST_TEXT = 4000;
const MOST_REPORTS = 10 ** 9;
const MOST_MINUTES = 60 * 24 * 366;
const MOST_TOKENS = 1000;
/** Above this a mechanism protects nothing; a document cannot allow it for itself. */
export const LARGE = new Fraction(20n);
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

function must(holds, why) {
  if (!holds) throw new Malformed(why);
}

/** The names of an object's fields in order; none of anything else, however long it is. */
function namesIn(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value).sort().join() : "";
}

/**
 * Check a survey document and return it ready for use.
 *
 * Refuses: bytes whose SHA-256 is not `hash`, text that is not canonical, unknown or missing fields, a fingerprint
 * that is not the one of these integers, a channel whose largest ratio of weights exceeds e**epsilon, and an epsilon
 * above 20 unless the caller's own code passes `allowLarge`.
 */
export async function openSurvey(bytes, { hash, allowLarge = false } = {}) {
  must(bytes instanceof Uint8Array && bytes.length <= MOST_BYTES, "a survey arrives as at most 16 MB of bytes");
  const found = toHex(await digest(bytes));
  if (hash !== undefined && hash !== found) throw new NotTrusted("the survey's hash is not the one you were promised: this is another survey");
  must(bytes.every((byte) => byte < 128), "a survey document is ASCII");
  const text = new TextDecoder().decode(bytes);
  const document = parseJson(text);
  const fields = [...FIELDS, ...OPTIONAL.filter((name) => Object.hasOwn(document ?? {}, name))].sort();
  must(namesIn(document) === fields.join(), "a survey document has exactly the fields of the format");
  must(document.format === "deniable-survey" && document.version === 1, "this release reads version 1 of survey documents");
  must(canonicalJson(document) === text, "the survey is not in canonical form");
  checkWords(document);
  const { channel, domain, epsilon } = await checkedLaw(document, allowLarge);
  const budget = exact("budget", document.budget);
  if (budget.compare(epsilon) < 0) throw new NotTrusted("the survey's budget is smaller than the price of one answer");
  const permanent = permanentOf(document.repeat);
  if (permanent !== null && budget.compare(permanent) < 0) throw new NotTrusted("the survey's budget is smaller than the level of its kept answer");
  const survey = new Survey(document, found, channel, domain, epsilon, budget);
  if (permanent !== null) layersOf(survey);
  if (changesOf(document.repeat) !== null) {
    if (budget.compare(epsilon) !== 0) throw new NotTrusted("the whole life of a survey of changes costs epsilon: its budget is another");
    streamOf(survey, windowsOf(document));
  }
  return survey;
}

function checkWords(document) {
  for (const name of ["title", "purpose"]) must(isText(document[name]), `${name} must be text of 1 to ${MOST_TEXT} characters`);
  const { attributes } = document;
  must(Array.isArray(attributes) && attributes.length > 0, "attributes must be a list");
  for (const attribute of attributes) {
    must(namesIn(attribute) === "name,question", "an attribute has a name and a question");
    must(typeof attribute.name === "string" && NAME.test(attribute.name) && isText(attribute.question), "an attribute's name or question is not one");
  }
  must(new Set(attributes.map(({ name }) => name)).size === attributes.length, "attributes must have names of their own");
  must((REPEATS.includes(document.repeat) || TURNS.test(document.repeat) || permanentOf(document.repeat) !== null || changesOf(document.repeat) !== null) && WINDOWS.includes(document.window), "repeat and window must be known words");
  must((document.repeat === "once") === (document.window === "survey"), "window is 'survey' exactly when repeat is 'once'");
  for (const name of ["opens", "closes"]) must(document[name] === null || (typeof document[name] === "string" && DATE.test(document[name])), `${name} must be a date`);
  const turns = turnsOf(document);
  must(turns === null || (turns >= 2 && turns <= MOST_TURNS), `repeat must have 2 to ${MOST_TURNS} turns or windows`);
  must(typeof document.keep_reports === "boolean", "keep_reports must be true or false");
  const changes = changesOf(document.repeat);
  if (changes !== null) {
    const windows = windowsOf(document);
    must(windows >= 2 && windows <= MOST_TURNS && changes <= windows, `a survey of changes has 2 to ${MOST_TURNS} windows and at most as many changes`);
    must(!document.keep_reports, "a survey of changes keeps sums only");
  }
  checkRelease(document.release);
  checkHiding(document);
}

/** One-time tokens of an issuer, and a shuffler between devices and collector; a survey may have neither. */
function checkHiding({ admission, shuffle, repeat }) {
  if (admission !== undefined) {
    must(namesIn(admission) === "issuer,key,tokens" && isText(admission.issuer), "admission must have exactly issuer, key and tokens");
    must(/^https?:\/\/[!-~]+$/.test(admission.issuer), "admission.issuer must be an address");
    const key = fromBase64url(admission.key);
    must(key !== null && key.length >= 200 && key.length <= 600, "admission.key must be an issuer's public key");
    must(Number.isSafeInteger(admission.tokens) && admission.tokens >= 1 && admission.tokens <= MOST_TOKENS, `admission.tokens must be a whole number from 1 to ${MOST_TOKENS}`);
  }
  if (shuffle !== undefined) {
    must(namesIn(shuffle) === "key,minutes,reports" && /^[0-9a-f]{64}$/.test(shuffle.key), "shuffle must have exactly key, minutes and reports, and its key 64 hexadecimal digits");
    must(Number.isSafeInteger(shuffle.reports) && shuffle.reports >= 2 && shuffle.reports <= MOST_REPORTS, `shuffle.reports must be a whole number from 2 to ${MOST_REPORTS}`);
    must(Number.isSafeInteger(shuffle.minutes) && shuffle.minutes >= 0 && shuffle.minutes <= MOST_MINUTES, `shuffle.minutes must be a whole number from 0 to ${MOST_MINUTES}`);
  }
  const hidden = admission !== undefined || shuffle !== undefined;
  must(!hidden || (permanentOf(repeat) === null && changesOf(repeat) === null), "what a device keeps can be followed: it does not go with admission or shuffle");
  must(admission === undefined || shuffle === undefined || repeat === "once", "a survey with both admission and shuffle must be one that is answered once");
}

/** Of how many turns each device has one; null where it reports in every window. */
export function turnsOf({ repeat, window, opens, closes }) {
  if (repeat !== "random-window") return TURNS.test(repeat) ? Number(TURNS.exec(repeat)[1]) : null;
  return windowsOf({ window, opens, closes });
}

/** How many windows there are between the days on which a survey opens and closes. */
export function windowsOf({ window, opens, closes }) {
  must(opens !== null && closes !== null, "a survey of one random window or of changes opens and closes on days that it names");
  return windowNumber(closes, window) - windowNumber(opens, window) + 1;
}

/** The windows of a kind counted without a gap, by a day such as "2026-11-15": days, weeks from Monday on, or months. */
export function windowNumber(day, window) {
  if (window === "month") return 12 * Number(day.slice(0, 4)) + Number(day.slice(5, 7)) - 1;
  const ordinal = Math.round(Date.parse(`${day}T00:00:00Z`) / 86_400_000) + 719_163; // 1 is the first of January of the year 1
  return window === "day" ? ordinal : Math.floor((ordinal - 1) / 7);
}

/** When new numbers are published: "live", or in steps of many reports. */
function checkRelease(release) {
  if (release === "live") return;
  must(namesIn(release) === "minutes,reports", 'release must be "live" or have exactly minutes and reports');
  const { minutes, reports } = release;
  must(Number.isSafeInteger(reports) && reports >= 2 && reports <= MOST_REPORTS, `release.reports must be a whole number from 2 to ${MOST_REPORTS}`);
  must(Number.isSafeInteger(minutes) && minutes >= 0 && minutes <= MOST_MINUTES, `release.minutes must be a whole number from 0 to ${MOST_MINUTES}`);
}

function isText(value) {
  return typeof value === "string" && value.trim() !== "" && [...value].length <= MOST_TEXT;
}

function exact(name, value) {
  must(typeof value === "string", `${name} must be text`);
  return fractionFromText(value);
}

/** The channel, the domain and epsilon; everything that privacy rests on. */
async function checkedLaw(document, allowLarge) {
  const { mechanism, attributes, strategy } = document;
  must(namesIn(mechanism) === "domain,epsilon,mechanism,parameters", "the mechanism is not a recipe");
  const epsilon = exact("epsilon", document.epsilon);
  must(mechanism.epsilon === document.epsilon && epsilon.numerator > 0n, "epsilon must be the mechanism's");
  if (epsilon.compare(LARGE) > 0 && !allowLarge) throw new NotTrusted("an epsilon above 20 gives practically no privacy: do not answer this survey");
  const law = new TextEncoder().encode(canonicalJson({ channel: document.channel, recipe: mechanism }));
  if (toHex(await digest(law)).slice(0, 32) !== document.fingerprint) throw new NotTrusted("the fingerprint is not the one of these integers");
  let channel, domain, ratio;
  try {
    [channel, domain] = [channelFrom(document.channel), domainFrom(mechanism.domain)];
    ratio = channel.ratio();
  } catch (error) {
    throw error instanceof DeniableError ? new NotTrusted(`the survey's integers cannot be used: ${error.message}`) : error;
  }
  if (ratio === null || !allows(epsilon, ratio)) throw new NotTrusted("the channel gives away more than epsilon: do not answer this survey");
  const record = strategy !== null;
  must(!record || STRATEGIES[strategy] === mechanism.mechanism, "the strategy is not the mechanism's");
  must(record || (attributes.length === 1 && !Object.values(STRATEGIES).includes(mechanism.mechanism)), "several attributes need a strategy");
  if (record) {
    must(domain.kind === "record" && [...domain.fields.keys()].join() === attributes.map(({ name }) => name).join(), "the record's fields must be the attributes");
    partsOf(channel);
  }
  return { channel, domain, epsilon };
}

/** A checked survey. */
export class Survey {
  constructor(document, hash, channel, domain, epsilon, budget) {
    Object.assign(this, { document, hash, channel, domain, epsilon, budget });
    this.names = document.attributes.map(({ name }) => name);
    Object.freeze(this);
  }

  get title() {
    return this.document.title;
  }

  get fingerprint() {
    return this.document.fingerprint;
  }

  /** The domain of one attribute. */
  domainOf(name) {
    return this.document.strategy === null ? this.domain : this.domain.fields.get(name);
  }

  /** The channel's input for one answer per attribute; refuses what does not belong, without showing it. */
  inputOf(answers) {
    const given = typeof answers === "object" && answers !== null ? Object.keys(answers) : [];
    if (given.length !== this.names.length || this.names.some((name) => !Object.hasOwn(answers, name))) {
      throw new OutOfDomain(`the answer must have exactly the attributes ${this.names.join(", ")}`);
    }
    return inputOf(this.domain, this.channel, this.document.strategy === null ? answers[this.names[0]] : answers);
  }
}

/** The name of the window a day lies in. Days are UTC dates. */
export function periodOf(day, window) {
  const date = day.toISOString().slice(0, 10);
  if (window === "survey") return "";
  if (window === "day") return date;
  if (window === "month") return date.slice(0, 7);
  // ISO weeks: a week belongs to the year of its Thursday.
  const thursday = new Date(`${date}T00:00:00Z`);
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const year = thursday.getUTCFullYear();
  const week = Math.ceil(((thursday - Date.UTC(year, 0, 1)) / 86_400_000 + 1) / 7);
  return `${year}-W${String(week).padStart(2, "0")}`;
}
