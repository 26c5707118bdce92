// A yes or no in every window, of which a device reports changes: repeat "changes:C", by a tree of changes.

import { AlreadyAnswered, NotTrusted } from "./errors.js";

const CHANGES = /^changes:([1-9]\d{0,3})$/;

/** How many times an answer may change, as in "changes:3"; null for other ways of repeating. */
export function changesOf(repeat) {
  const found = typeof repeat === "string" ? CHANGES.exec(repeat) : null;
  return found && Number(found[1]);
}

/** How many lengths there are: 1, 2, 4, … up to so many windows. */
const lengthsOf = (windows) => windows.toString(2).length;

/**
 * The stream of a survey with so many windows: its two weights, their sum, how many changes and how many lengths. The channel has to be
 * a table with, for every length, one output for no and one for yes: what a device draws is then one of its reports.
 */
export function streamOf({ document, domain }, windows) {
  if (domain.kind !== "binary") throw new NotTrusted("a survey of changes asks for a yes or no");
  const { kind, rows } = document.channel;
  const lengths = lengthsOf(windows);
  const alike = kind === "table" && rows.length === 2 && rows.every((row) => row.length === 2 * lengths);
  const [high, low] = alike ? rows[0] : [0, 0];
  const paired = alike && rows.every((row, value) => row.every((weight, output) => BigInt(weight) === BigInt(output % 2 === value ? high : low)));
  const total = BigInt(high) + BigInt(low);
  if (!paired || total % 2n !== 0n) throw new NotTrusted("a survey of changes needs a channel of a yes or no beside a length");
  return { changes: changesOf(document.repeat), lengths, high: BigInt(high), low: BigInt(low), total };
}

/** What a device draws once and keeps. */
export function newMemory({ changes, lengths }, coins) {
  const length = 2 ** coins.belowNumber(lengths);
  return { asked: -1, before: 0, begun: false, known: 0, length, number: coins.belowNumber(changes), seen: 0, sign: 0 };
}

/**
 * The output of a device in a window, counted from 0, or null where it is silent; `memory` is changed. A device that was away acts as if
 * its value had stayed, drops what it could not tell at the end of a stretch, and says nothing of a stretch whose beginning it missed.
 */
export function nextReport({ high, low, total }, memory, period, value, coins) {
  if (memory.asked > period) throw new AlreadyAnswered("a later window was already answered; a clock that goes back draws nothing");
  if (memory.asked === period) return null;
  const stretch = Math.floor(period / memory.length);
  if (Math.floor(memory.asked / memory.length) !== stretch) memory.sign = 0;
  memory.asked = period;
  memory.begun = true;
  const change = value - memory.before;
  if (change !== 0) {
    if (memory.seen === memory.number) memory.sign = change;
    memory.seen += 1;
    memory.before = value;
  }
  const drawn = coins.below(total);
  if ((period + 1) % memory.length !== 0) return null;
  const { sign, known } = memory;
  memory.sign = 0;
  memory.known = stretch + 1;
  const plus = sign > 0 ? high : sign < 0 ? low : total / 2n;
  return known === stretch ? BigInt(2 * (lengthsOf(memory.length) - 1) + (drawn < plus ? 1 : 0)) : null;
}
