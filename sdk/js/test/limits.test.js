import assert from "node:assert/strict";
import { test } from "node:test";

import { BudgetSpent, InvalidParameter, Ledger, MemoryStore, NotTrusted, Session, USUAL_LIMIT } from "../src/index.js";
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
