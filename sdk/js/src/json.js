// JSON with one meaning: no repeated fields, whole numbers kept exactly, and the canonical form of a document.

import { Malformed } from "./errors.js";

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const MOST_DEPTH = 200;
const MOST_DIGITS = 1000;

/** Parse JSON. Whole numbers beyond 2**53 become BigInts; others are refused unless `reals` allows them. */
export function parseJson(text, { reals = false } = {}) {
  let at = 0;

  function fail(why = "the text is not JSON") {
    throw new Malformed(why);
  }

  function space() {
    while (text[at] === " " || text[at] === "\n" || text[at] === "\t" || text[at] === "\r") at++;
  }

  /** From its first quotation mark to the next one that no backslash escapes; the platform reads what is between. */
  function string() {
    const begin = at;
    for (;;) {
      at = text.indexOf('"', at + 1);
      if (at < 0) fail();
      let marks = 0;
      while (text[at - 1 - marks] === "\\") marks++;
      if (marks % 2 === 0) break;
    }
    at++;
    try {
      return JSON.parse(text.slice(begin, at));
    } catch {
      return fail();
    }
  }

  function number() {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (!match) fail();
    at += match[0].length;
    if (match[0].length > MOST_DIGITS) fail(`a number has more than ${MOST_DIGITS} digits`);
    if (match[1] === undefined && match[2] === undefined) {
      const small = Number(match[0]);
      return Number.isSafeInteger(small) ? small : BigInt(match[0]);
    }
    if (!reals) fail("a number in this document is not whole");
    return Number(match[0]);
  }

  function list(depth) {
    const found = [];
    at++;
    space();
    if (text[at] === "]") at++;
    else
      for (;;) {
        found.push(value(depth + 1));
        space();
        const mark = text[at++];
        if (mark === "]") break;
        if (mark !== ",") fail();
      }
    return found;
  }

  function object(depth) {
    const found = Object.create(null);
    at++;
    space();
    if (text[at] === "}") at++;
    else
      for (;;) {
        space();
        if (text[at] !== '"') fail();
        const name = string();
        space();
        if (text[at++] !== ":") fail();
        if (name in found) fail("a field occurs twice in the JSON text");
        found[name] = value(depth + 1);
        space();
        const mark = text[at++];
        if (mark === "}") break;
        if (mark !== ",") fail();
      }
    return found;
  }

  function value(depth) {
    if (depth > MOST_DEPTH) fail("the JSON text is nested too deeply");
    space();
    switch (text[at]) {
      case "{":
        return object(depth);
      case "[":
        return list(depth);
      case '"':
        return string();
      case "t":
      case "f":
      case "n":
        for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
          if (text.startsWith(word, at)) {
            at += word.length;
            return meaning;
          }
        }
        return fail();
      default:
        return number();
    }
  }

  const found = value(0);
  space();
  if (at !== text.length) fail();
  return found;
}

const SHORT = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const PLAIN = /^[ !#-[\]-~]*$/;

function written(text) {
  if (PLAIN.test(text)) return `"${text}"`;
  const escaped = text.replace(
    /["\\]|[^ -~]/g,
    (sign) => SHORT[sign] ?? "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"),
  );
  return `"${escaped}"`;
}

/** The one text of a document: sorted keys, no spaces, ASCII. */
export function canonicalJson(document) {
  if (document === null || typeof document === "boolean" || typeof document === "bigint") return String(document);
  if (typeof document === "string") return written(document);
  if (typeof document === "number") {
    if (!Number.isSafeInteger(document)) throw new Malformed("only whole numbers have a canonical form");
    return String(document);
  }
  if (Array.isArray(document)) return `[${document.map(canonicalJson).join(",")}]`;
  const names = Object.keys(document).sort();
  return `{${names.map((name) => `${written(name)}:${canonicalJson(document[name])}`).join(",")}}`;
}
