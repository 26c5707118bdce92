import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidParameter, Ledger, MemoryStore, NotAdmitted, NotDelivered, Session } from "../src/index.js";
import { hashOf, surveyBytes } from "./survey.js";

const TOKEN = "a-token-of-43-letters";
const bytes = surveyBytes();

/** A collector that takes reports only with this token. */
function collector() {
  const seen = [];
  async function fetch(url, { method = "GET", headers = {}, redirect } = {}) {
    seen.push({ url, method, headers, redirect });
    if (method === "GET") return { status: 200, arrayBuffer: async () => bytes };
    return { status: headers.Authorization === undefined ? 401 : headers.Authorization === `Bearer ${TOKEN}` ? 200 : 403 };
  }
  return { fetch, seen };
}

const open = (ledger, options, address = "http://127.0.0.1:9") => Session.open(address, hashOf(bytes), ledger, options);

test("a token goes with reports, in a header, and nowhere else", async () => {
  const { fetch, seen } = collector();
  let kept = "";
  const store = new MemoryStore();
  const noting = { update: (change) => store.update((text) => ((kept += text ?? ""), change(text))) };
  const device = await open(new Ledger(noting), { fetch, token: TOKEN });
  assert.equal((await device.answer({ commute: 1 })).delivered, true);
  assert.deepEqual(seen.map(({ method, headers }) => [method, headers.Authorization]), [["GET", undefined], ["POST", `Bearer ${TOKEN}`]]);
  assert.ok(seen.every(({ url, redirect }) => !url.includes(TOKEN) && redirect === "error"));
  await device.ledger.spent(device.survey.hash);
  assert.ok(kept.length > 0 && !kept.includes(TOKEN));
  assert.ok(!JSON.stringify(device, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes(TOKEN));
});

test("without a token the report waits, and goes out unchanged when there is one", async () => {
  const { fetch } = collector();
  const ledger = new Ledger(new MemoryStore());
  const device = await open(ledger, { fetch });
  await assert.rejects(device.answer({ commute: 1 }), NotAdmitted);
  const [waiting] = await ledger.pending(device.survey.hash);
  device.useToken("another");
  await assert.rejects(device.deliver(), NotDelivered);
  assert.deepEqual(await ledger.pending(device.survey.hash), [waiting]);
  device.useToken(TOKEN);
  assert.equal(await device.deliver(), 1);
  assert.equal(await ledger.stateOf(device.survey.hash, ""), "sent");
});

test("a token is sent in the clear to nobody", async () => {
  const { fetch } = collector();
  const elsewhere = open(new Ledger(new MemoryStore()), { fetch, token: TOKEN, allowHttp: true }, "http://survey.example.org");
  await assert.rejects(elsewhere, (error) => error instanceof InvalidParameter && /only sent over https/.test(error.message) && !error.message.includes(TOKEN));
  const device = await open(new Ledger(new MemoryStore()), { fetch, allowHttp: true }, "http://survey.example.org");
  assert.throws(() => device.useToken(TOKEN), InvalidParameter);
  const safe = await open(new Ledger(new MemoryStore()), { fetch, token: TOKEN }, "https://survey.example.org");
  assert.equal((await safe.answer({ commute: 1 })).delivered, true);
});

for (const bad of ["", "two words", "a\r\nb", "ä", 7]) {
  test(`${JSON.stringify(bad)} is no token`, async () => {
    await assert.rejects(open(new Ledger(new MemoryStore()), { fetch: collector().fetch, token: bad }), InvalidParameter);
  });
}
