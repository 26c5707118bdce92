// Survey documents for the tests, made from the vectors so that Python wrote their integers.

import { readFileSync } from "node:fs";

import { fractionFromText } from "../src/fraction.js";
import { toHex } from "../src/hexadecimal.js";
import { canonicalJson, parseJson } from "../src/json.js";
import { sha256 } from "../src/sha256.js";

/** The bytes of a survey about the given example of a mechanism, with some fields changed. */
export function surveyBytes({ mechanism = "k-rr", example = 0, ...changes } = {}) {
  const file = new URL(`../../../spec/vectors/${mechanism}.json`, import.meta.url);
  const { mechanism: recipe, channel, fingerprint } = parseJson(readFileSync(file, "utf8"), { reals: true }).examples[example];
  const document = {
    format: "deniable-survey",
    version: 1,
    title: "Travel to work",
    purpose: "The city plans bus lines.",
    attributes: [{ name: "commute", question: "How did you get to work?" }],
    strategy: null,
    mechanism: recipe,
    channel,
    fingerprint,
    epsilon: recipe.epsilon,
    budget: `${fractionFromText(recipe.epsilon).times(fractionFromText("2"))}`,
    repeat: "once",
    window: "survey",
    opens: null,
    closes: null,
    keep_reports: false,
    release: { reports: 100, minutes: 60 },
    ...changes,
  };
  return new TextEncoder().encode(canonicalJson(document));
}

export function hashOf(bytes) {
  return toHex(sha256(bytes));
}

/** The fingerprint of changed integers: an attacker can always compute it. */
export function fingerprintOf(channel, recipe) {
  return hashOf(new TextEncoder().encode(canonicalJson({ channel, recipe }))).slice(0, 32);
}
