import assert from "node:assert/strict";
import { test } from "node:test";

import { BudgetSpent, InvalidParameter, Ledger, MemoryStore, NotTrusted, Session, USUAL_LIMIT, openSurvey } from "../src/index.js";
import { canonicalJson, parseJson } from "../src/json.js";
import { fingerprintOf, hashOf, surveyBytes } from "./survey.js";

const day = (number) => ({ today: new Date(Date.UTC(2026, 0, 1 + number)) });

/** A survey with another epsilon, another budget or other parameters; its own integers keep any larger promise. */
function asking({ epsilon, budget, parameters = {}, ...changes }, from = {}) {
  const document = parseJson(new TextDecoder().decode(surveyBytes(from)));
  const level = epsilon ?? document.epsilon;
  document.mechanism = { ...document.mechanism, epsilon: level, parameters: { ...document.mechanism.parameters, ...parameters } };
  const fingerprint = fingerprintOf(document.channel, document.mechanism);
  return new TextEncoder().encode(canonicalJson({ ...document, epsilon: level, budget: budget ?? level, fingerprint, ...changes }));
}

function open(bytes, ledger = new Ledger(new MemoryStore())) {
  const fetch = async () => ({ status: 200, arrayBuffer: async () => bytes });
  return Session.open("http://127.0.0.1:9", hashOf(bytes), ledger, { fetch });
}

test("a hostile survey is refused when it is opened", async () => {
  await assert.rejects(open(asking({ epsilon: "100", budget: "1000000", repeat: "each-window", window: "day" })), NotTrusted);
  await assert.rejects(open(asking({ epsilon: "1", budget: "1000000", repeat: "each-window", window: "day" })), BudgetSpent);
  await assert.rejects(open(asking({ epsilon: "9" })), /epsilon=9 over its life \(its budget\), more than your limit 8/);
  await assert.rejects(open(asking({ parameters: { permanent: "100" } }, { mechanism: "rappor" })), /permanent layer/);
  const parts = { a: { mechanism: "rappor", domain: {}, epsilon: "1/4", parameters: { permanent: "7" } } };
  parts.b = { ...parts.a };
  const nested = asking({ parameters: { parts } });
  await assert.rejects(open(nested), /epsilon=14 over its life/);
});

test("raising the limit is explicit, and the words say what it means", async () => {
  const large = asking({ epsilon: "100" });
  await assert.rejects(open(large, new Ledger(new MemoryStore(), { limit: 20 })), NotTrusted);
  const session = await open(large, new Ledger(new MemoryStore(), { limit: "100" }));
  const { meaning, staying } = await session.explain();
  assert.match(meaning, /practically disclosed/);
  assert.doesNotMatch(meaning + staying, /any answer could have produced/);
  for (const limit of [null, 0, -1, Infinity, "-3", true]) assert.throws(() => new Ledger(new MemoryStore(), { limit }), InvalidParameter);
});

test("surveys under other names share one limit", async () => {
  const ledger = new Ledger(new MemoryStore());
  assert.equal(`${ledger.limit}`, USUAL_LIMIT);
  let answered = 0;
  for (let number = 0; number < 20; number++) {
    const session = await open(asking({ epsilon: "1", title: `Survey ${number}` }), ledger);
    await session.answer({ commute: 1 }).then(
      () => answered++,
      (error) => assert.ok(error instanceof BudgetSpent),
    );
  }
  assert.deepEqual([answered, `${await ledger.left()}`], [8, "0"]);
});

test("a clock that runs ahead opens no more windows than the budget pays for", async () => {
  const ledger = new Ledger(new MemoryStore());
  const session = await open(asking({ epsilon: "1", budget: "8", repeat: "each-window", window: "day" }), ledger);
  for (let number = 0; number < 8; number++) await session.answer({ commute: 1 }, day(40 * number));
  for (let number = 8; number < 30; number++) await assert.rejects(session.answer({ commute: 1 }, day(40 * number)), BudgetSpent);
  assert.equal(`${await ledger.spent()}`, "8");
});

/** A survey whose channel is the given one; an attacker can always compute its fingerprint. */
function withChannel(channel) {
  const document = parseJson(new TextDecoder().decode(surveyBytes()));
  return new TextEncoder().encode(canonicalJson({ ...document, channel, fingerprint: fingerprintOf(channel, document.mechanism) }));
}

test("a survey that would keep a device busy is refused", { timeout: 30_000 }, async () => {
  const two = { kind: "two-level", set: "singleton", size: 2, low: 2 ** 40, high: 2 ** 40 + 1 };
  const wide = { kind: "bits", size: 1 << 16, own: 3, other: 2, scale: 7 };
  let doubled = two;
  for (let level = 0; level < 12; level++) doubled = { kind: "mixture", parts: [doubled, doubled], shares: [1, 1] };
  const long = { ...two, low: 10n ** 900n, high: 10n ** 900n + 1n };
  const hostile = {
    "many parts": { kind: "product", parts: new Array(4096).fill(two) },
    "long reports side by side": { kind: "product", parts: new Array(1000).fill(wide) },
    "long reports one after the other": { kind: "steps", length: 1 << 16, step: { ...two, size: 1 << 20 } },
    "parts that double": doubled,
    "a report of a million bits": { ...wide, size: 1 << 20 },
    "a product of long ratios": { kind: "product", parts: new Array(1000).fill(long) },
    "long ratios one after the other": { kind: "steps", length: 1 << 12, step: long },
    "a common denominator of long numbers": { kind: "fake-data", parts: Array.from({ length: 1000 }, (_, i) => ({ ...long, low: long.low + BigInt(i) - 1000n })) },
    "a set that is not a word": { ...two, set: {} },
  };
  for (const [name, channel] of Object.entries(hostile)) await assert.rejects(open(withChannel(channel)), NotTrusted, name);
  const text = new TextDecoder().decode(withChannel(two));
  const digits = new TextEncoder().encode(text.replace(`${2 ** 40}`, "9".repeat(10 ** 7)));
  await assert.rejects(open(digits), /more than 1000 digits/);
  await assert.rejects(open(new TextEncoder().encode(`"${"\\u0041".repeat(10 ** 6)}"`)), /exactly the fields/);
});

test("as many questions as allowed are read", { timeout: 30_000 }, async () => {
  const two = { kind: "two-level", set: "singleton", size: 2, low: 2 ** 40, high: 2 ** 40 + 1 };
  assert.equal((await openSurvey(withChannel({ kind: "product", parts: new Array(1023).fill(two) }))).channel.parts.length, 1023);
});
