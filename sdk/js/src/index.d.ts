/** deniable for browsers and Node: check a survey, randomize on this device, keep a ledger, send. */

export class DeniableError extends Error {}
export class InvalidParameter extends DeniableError {}
export class OutOfDomain extends DeniableError {}
export class Malformed extends DeniableError {}
export class NotTrusted extends DeniableError {}
export class BudgetSpent extends DeniableError {}
export class AlreadyAnswered extends DeniableError {}
export class NotDelivered extends DeniableError {}
export class NotAdmitted extends NotDelivered {}

/** An exact rational in lowest terms. */
export class Fraction {
  constructor(numerator: bigint, denominator?: bigint);
  readonly numerator: bigint;
  readonly denominator: bigint;
  plus(other: Fraction): Fraction;
  minus(other: Fraction): Fraction;
  times(other: Fraction): Fraction;
  over(other: Fraction): Fraction;
  compare(other: Fraction): -1 | 0 | 1;
  equals(other: Fraction): boolean;
  floor(): bigint;
  toNumber(): number;
  toString(): string;
}
/** "3/2", "0.1" or "-4" as exactly that number. */
export function fractionFromText(text: string): Fraction;
/** Is ratio <= e**epsilon? Decided exactly. */
export function allows(epsilon: Fraction, ratio: Fraction): boolean;

/** Uniform integers below n, by the same rule as in every other language. */
export class Coins {
  constructor(take: (count: number) => Uint8Array);
  below(n: bigint): bigint;
  belowNumber(n: number): number;
}
/** The system's CSPRNG, through WebCrypto. */
export class SystemCoins extends Coins {
  constructor(crypto?: Pick<Crypto, "getRandomValues">);
}
/** Given bytes: for tests and vectors, never for real reports. */
export class ReplayCoins extends Coins {
  constructor(bytes: Uint8Array);
  left(): number;
}

/** A randomised map from 0 … inputs-1 to 0 … outputs-1 with integer weights. */
export interface Channel {
  readonly kind: string;
  readonly inputs: bigint;
  readonly outputs: bigint;
  draw(index: bigint, coins: Coins): bigint;
  /** The largest weight over the smallest of any output, exactly or from above; null when it is unbounded. */
  ratio(): Fraction | null;
}
export const channelKinds: readonly string[];
export const setSystems: readonly string[];
/** A channel from its compiled form; refuses integers that break a rule. */
export function channelFrom(compiled: object): Channel;

/** What a private value may be. */
export interface Domain {
  readonly kind: string;
  readonly size?: bigint;
  readonly labels?: readonly string[] | null;
  readonly fields?: ReadonlyMap<string, Domain>;
}
export type Value = boolean | number | bigint | string | readonly Value[] | { readonly [name: string]: Value };
export const domainKinds: readonly string[];
export function domainFrom(recipe: object): Domain;
/** The channel's input for a private value; refuses what does not belong, without showing it. */
export function inputOf(domain: Domain, channel: Channel, value: Value): bigint;

export function outputBits(channel: Channel): number;
/** The bytes of one report. */
export function encodeReport(fingerprint: string, channel: Channel, output: bigint): Uint8Array;

export interface SurveyDocument {
  readonly format: "deniable-survey";
  readonly version: 1;
  readonly title: string;
  readonly purpose: string;
  readonly attributes: readonly { readonly name: string; readonly question: string }[];
  readonly strategy: "split" | "sample-one" | "fake-data" | null;
  readonly mechanism: object;
  readonly channel: object;
  readonly fingerprint: string;
  readonly epsilon: string;
  readonly budget: string;
  readonly repeat: "once" | "permanent" | "each-window" | "random-window" | `turns:${number}` | `kept:${string}` | `changes:${number}`;
  readonly window: "survey" | "day" | "week" | "month";
  readonly opens: string | null;
  readonly closes: string | null;
  readonly keep_reports: boolean;
  readonly release: "live" | { readonly reports: number; readonly minutes: number };
}
/** A checked survey. */
export class Survey {
  private constructor();
  readonly document: SurveyDocument;
  readonly hash: string;
  readonly channel: Channel;
  readonly domain: Domain;
  readonly epsilon: Fraction;
  readonly budget: Fraction;
  readonly names: readonly string[];
  readonly title: string;
  readonly fingerprint: string;
  domainOf(name: string): Domain;
  inputOf(answers: { readonly [name: string]: Value }): bigint;
}
/** Check hash, shape, integers and privacy of a survey document. */
export function openSurvey(bytes: Uint8Array, options?: { hash?: string; allowLarge?: boolean }): Promise<Survey>;
/** The name of the window a day lies in. */
export function periodOf(day: Date, window: SurveyDocument["window"]): string;

/** What will be sent, and what epsilon means, in plain words. */
export interface Explanation {
  readonly title: string;
  readonly purpose: string;
  readonly questions: readonly { readonly name: string; readonly question: string }[];
  readonly staying: string;
  readonly sending: string;
  readonly strategy: string | null;
  readonly meaning: string;
  readonly repeating: string;
  readonly keeping: string;
  readonly releasing: string;
  readonly budget: string;
  readonly checked: string;
  readonly odds: number;
}
export function explain(survey: Survey, left?: Fraction, own?: Fraction | null): Explanation;
/** Two words for a level: from "well hidden" to "practically disclosed". */
export function hiding(level: Fraction): string;
/** What one report of this level tells, or all reports of a lifetime together, in plain words. */
export function meaning(epsilon: Fraction, lifetime?: Fraction): string;

/** Where a ledger lies. `change` runs at once and alone; the result comes after the new text is safe. */
export interface Store {
  update<Result>(change: (text: string | null) => [string | null, Result]): Promise<Result>;
}
export class MemoryStore implements Store {
  update<Result>(change: (text: string | null) => [string | null, Result]): Promise<Result>;
}
export class LocalStorageStore implements Store {
  /** Throws InvalidParameter without locks: two tabs could draw twice. */
  constructor(name?: string, storage?: Pick<Storage, "getItem" | "setItem">, locks?: Pick<LockManager, "request">);
  update<Result>(change: (text: string | null) => [string | null, Result]): Promise<Result>;
}
export class IndexedDbStore implements Store {
  constructor(name?: string, factory?: IDBFactory);
  update<Result>(change: (text: string | null) => [string | null, Result]): Promise<Result>;
}
/** IndexedDB where there is one, else localStorage with locks; rejects with InvalidParameter when there is neither. */
export function browserStore(name?: string): Promise<Store>;

/** A drawn report that is not yet acknowledged. */
export interface Pending {
  readonly survey: string;
  readonly period: string;
  readonly key: string;
  readonly report: string;
}
/** Every draw this device ever made, and what it cost. */
export class Ledger {
  /** `limit` is the most that all reports of this person may cost together; 8 if left out. */
  constructor(store: Store, options?: { limit?: string | number; crypto?: Pick<Crypto, "getRandomValues"> });
  draw(draw: {
    survey: string;
    period: string;
    epsilon: Fraction;
    budget: Fraction;
    make: () => string;
    permanent?: string | null;
    around?: ((kept: string) => string) | null;
  }): Promise<Pending>;
  walk(walk: {
    survey: string;
    period: string;
    epsilon: Fraction;
    budget: Fraction;
    begin: () => Record<string, unknown>;
    step: (memory: Record<string, unknown>) => string | null;
  }): Promise<Pending | null>;
  /** Throws BudgetSpent when the survey could cost more over its whole life than the limit. */
  checkSurvey(survey: Survey): void;
  left(): Promise<Fraction>;
  readonly limit: Fraction;
  settle(pending: Pending, options?: { refused?: boolean }): Promise<void>;
  pending(survey: string): Promise<Pending[]>;
  turn(survey: string, turns: number, coins: Coins): Promise<number>;
  stateOf(survey: string, period: string): Promise<"pending" | "sent" | "refused" | null>;
  spent(survey?: string | null): Promise<Fraction>;
}

export interface Receipt {
  /** false: the report waits in the ledger; `deliver` sends it. */
  readonly delivered: boolean;
  /** The device says nothing in this window: it is not its turn, or no stretch of a survey of changes ends. Nothing was sent. */
  readonly silent: boolean;
  /** The report's bytes in hexadecimal digits; null when the device was silent. */
  readonly report: string | null;
  readonly spent: Fraction;
  readonly left: Fraction;
}
export interface SessionOptions {
  fetch?: typeof globalThis.fetch;
  coins?: Coins;
  patience?: { attempts?: number; first?: number; most?: number; sleep?: (milliseconds: number) => Promise<void> };
  /** Plain http to another machine: only for tests and closed networks. */
  allowHttp?: boolean;
  /** For collectors that take reports only with one; sent with reports, over https or to this machine, and kept in memory only. */
  token?: string | null;
  /** For surveys with one-time tokens: every report spends one of its tokens. */
  wallet?: Wallet | null;
}
/**
 * A `fetch` for sessions that goes through a relay (RFC 9458): the relay sees this device and cannot read, the collector reads and sees
 * only the relay. Rejects with InvalidParameter where the browser has no X25519.
 */
export function throughRelay(relay: string, options?: { fetch?: typeof globalThis.fetch; allowHttp?: boolean }): Promise<typeof globalThis.fetch>;

/** One-time tokens of a person (Privacy Pass, RFC 9578, type 2), in a store of their own: fetched ahead of time, spent one by one. */
export class Wallet {
  constructor(store: Store, options?: { crypto?: Crypto });
  /** Ask the survey's issuer with an invitation code; how many tokens are there now. A lost answer costs no token. */
  fetch(
    survey: Survey,
    code: string,
    options?: { count?: number; today?: Date; fetch?: typeof globalThis.fetch; allowHttp?: boolean },
  ): Promise<number>;
  /** How many tokens of the survey with this hash are not yet spent. */
  left(survey: string): Promise<number>;
}

/** Answers a survey for one person. */
export class Session {
  constructor(survey: Survey, ledger: Ledger, collector: string, options?: SessionOptions);
  static open(collector: string, hash: string, ledger: Ledger, options?: SessionOptions): Promise<Session>;
  readonly survey: Survey;
  readonly ledger: Ledger;
  explain(): Promise<Explanation>;
  period(today?: Date): string;
  /** Does this device report in the window it is now? In surveys with turns only in its own. */
  isMyTurn(today?: Date): Promise<boolean>;
  answer(answers: { readonly [name: string]: Value }, options?: { today?: Date }): Promise<Receipt>;
  deliver(options?: { today?: Date }): Promise<number>;
  /** A token from now on; refused where it could be read on the way. */
  useToken(token: string): void;
}
