import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { decodeResponse, encodeRequest, paddedSize } from "../src/binary-http.js";
import { fromHex, toHex } from "../src/hexadecimal.js";
import { InvalidParameter, Ledger, Malformed, MemoryStore, NotDelivered, Session, throughRelay } from "../src/index.js";
import { decodeKeys, encapsulate } from "../src/oblivious.js";
import { hashOf, surveyBytes } from "./survey.js";

const VECTOR = JSON.parse(readFileSync(new URL("../../../tests/privacy/anonymity/vectors/rfc9458-ohttp.json", import.meta.url)));
const { subtle } = globalThis.crypto;
const KEYS = fromHex(`${(VECTOR.key_configuration.length / 2).toString(16).padStart(4, "0")}${VECTOR.key_configuration}`);

/** A pair of keys from the bytes of the private one. */
async function pairOf(secret, open) {
  const der = fromHex(`302e020100300506032b656e04220420${secret}`);
  return {
    privateKey: await subtle.importKey("pkcs8", der, { name: "X25519" }, false, ["deriveBits"]),
    publicKey: await subtle.importKey("raw", fromHex(open), { name: "X25519" }, true, []),
  };
}

test("the complete example of RFC 9458, byte by byte", async () => {
  const ephemeral = await pairOf(VECTOR.client_ephemeral_secret_key, VECTOR.client_ephemeral_public_key);
  const request = encodeRequest({ method: "GET", scheme: "https", authority: "example.com", path: "/" }, false);
  assert.equal(toHex(request), VECTOR.request_bhttp);
  const { data, openReply } = await encapsulate(subtle, decodeKeys(KEYS), request, ephemeral);
  assert.equal(toHex(data), VECTOR.encapsulated_request);
  const reply = await openReply(fromHex(VECTOR.encapsulated_response));
  assert.equal(toHex(reply), VECTOR.response_bhttp);
  assert.deepEqual(decodeResponse(reply), { status: 200, body: new Uint8Array(0) });
  const changed = fromHex(VECTOR.encapsulated_response);
  changed[20] ^= 1;
  for (const wrong of [changed, changed.slice(0, 10), fromHex(VECTOR.encapsulated_response).slice(0, -1)]) await assert.rejects(openReply(wrong), Malformed);
});

test("two requests have nothing in common, and one size", async () => {
  const key = decodeKeys(KEYS);
  const sent = await Promise.all(["GET", "POST"].map((method) => encapsulate(subtle, key, encodeRequest({ method, scheme: "https", authority: "a", path: "/" }))));
  assert.equal(sent[0].data.length, sent[1].data.length);
  assert.notEqual(toHex(sent[0].data.slice(7, 39)), toHex(sent[1].data.slice(7, 39)));
  assert.deepEqual([1, 1024, 1025, 5000].map(paddedSize), [1024, 1024, 2048, 8192]);
});

test("lists of keys that are cut off or unknown are refused", () => {
  for (const wrong of [new Uint8Array(0), KEYS.slice(0, -1), KEYS.slice(0, 1), Uint8Array.of(0, 3, 1, 0, 16), Uint8Array.of(0, 0)]) {
    assert.throws(() => decodeKeys(wrong), Malformed);
  }
  const other = KEYS.slice();
  other[3] = 1; // another curve, then ours
  assert.deepEqual(decodeKeys(Uint8Array.from([...other, ...KEYS])), decodeKeys(KEYS));
});

for (const wrong of ["", "00", "01", "0140c8" + "05", "0120", "0143e8", "0140c8000000ff"]) {
  test(`the answer ${wrong || "of no bytes"} is refused`, () => assert.throws(() => decodeResponse(fromHex(wrong)), Malformed));
}

test("where crypto.subtle or X25519 is missing, a sentence says so", async () => {
  const without = { generateKey: async () => Promise.reject(new Error("NotSupportedError")) };
  await assert.rejects(throughRelay("https://relay.example.org", { subtle: without }), (error) => error instanceof InvalidParameter && /no X25519/.test(error.message));
  await assert.rejects(throughRelay("https://relay.example.org", { subtle: null }), (error) => error instanceof InvalidParameter && /over https/.test(error.message));
  await assert.rejects(throughRelay("http://relay.example.org"), InvalidParameter);
});

test("what a relay itself says loses no report", async () => {
  const bytes = surveyBytes();
  const statuses = [200, 404, 413, 500, 400];
  const seen = [];
  const relay = async (url, { method = "GET", headers, body }) => {
    seen.push({ url, method, headers, body });
    return url.endsWith("/ohttp-keys") ? { status: 200, arrayBuffer: async () => KEYS } : { status: statuses[0], arrayBuffer: async () => new Uint8Array(80) };
  };
  const survey = await Session.open("https://c.example.org", hashOf(bytes), new Ledger(new MemoryStore()), { fetch: async () => ({ status: 200, arrayBuffer: async () => bytes }) });
  const fetch = await throughRelay("https://relay.example.org", { fetch: relay });
  const patience = { attempts: 1 };
  const ledger = new Ledger(new MemoryStore());
  const session = new Session(survey.survey, ledger, "https://c.example.org", { fetch, patience });
  assert.equal((await session.answer({ commute: 1 })).delivered, false);
  const waiting = await ledger.pending(session.survey.hash);
  for (; statuses.length > 1; statuses.shift()) await assert.rejects(session.deliver(), NotDelivered);
  await assert.rejects(session.deliver(), NotDelivered);
  assert.deepEqual(await ledger.pending(session.survey.hash), waiting);
  const [{ key, report }] = waiting;
  for (const { url, headers, body } of seen.filter(({ method }) => method === "POST")) {
    assert.equal(url, "https://relay.example.org/");
    assert.deepEqual(headers, { "Content-Type": "message/ohttp-req" });
    assert.equal(body.length, 1024 + 7 + 32 + 16);
    assert.ok(![key, report, session.survey.hash].some((text) => Buffer.from(body).includes(text)));
  }
});
