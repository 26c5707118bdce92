import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { fromHex, toHex } from "../src/hexadecimal.js";
import { InvalidParameter, Ledger, Malformed, MemoryStore, NotAdmitted, Session, Wallet, openSurvey } from "../src/index.js";
import { surveyBytes } from "./survey.js";
import { BlindKey, askFor, encodeMessage, fromBase64url, tokenFrom, tokenHeader, tokenKeyFrom } from "../src/tokens.js";

const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../tests/privacy/anonymity/vectors/${name}.json`, import.meta.url)));
const bytes = (text) => fromHex(text.replace(/^0x/, ""));
const number = (text) => BigInt(`0x${text.replace(/^0x/, "")}`);

for (const [place, vector] of vectors("rfc9474-blind-rsa").entries()) {
  test(`vector ${place} of RFC 9474, byte by byte`, async () => {
    const salt = bytes(vector.salt ?? "");
    const key = new BlindKey(number(vector.n), number(vector.e), { saltLength: salt.length });
    const message = bytes(vector.input_msg ?? vector.msg);
    assert.equal(toHex(await encodeMessage(globalThis.crypto.subtle, message, salt, key.bits - 1)), toHex(bytes(vector.encoded_msg)));
    const { data, inverse } = await key.blind(message, { salt, inverse: number(vector.inv) });
    assert.equal(toHex(data), toHex(bytes(vector.blinded_msg)));
    assert.equal(toHex(await key.finalize(message, inverse, bytes(vector.blind_sig))), toHex(bytes(vector.sig)));
    const wrong = bytes(vector.blind_sig);
    wrong[100] ^= 1;
    for (const answer of [wrong, wrong.slice(1)]) await assert.rejects(key.finalize(message, inverse, answer), Malformed);
  });
}

/** The vectors give the factor, the client takes its inverse. */
function inverse(value, modulus) {
  let [low, high, a, b] = [value, modulus, 1n, 0n];
  while (low > 0n) [low, high, a, b] = [high % low, low, b - (high / low) * a, a];
  return ((b % modulus) + modulus) % modulus;
}

for (const [place, vector] of vectors("rfc9578-privacy-pass").vectors.entries()) {
  if (!vector.salt) continue; // type 1 needs the issuer's secret key to be spent, and surveys do not use it
  test(`vector ${place} of RFC 9578, byte by byte`, async () => {
    const key = await tokenKeyFrom(bytes(vector.pkS));
    const fixed = { nonce: bytes(vector.nonce), salt: bytes(vector.salt), inverse: inverse(number(vector.blind), key.key.modulus) };
    const pending = await askFor(key, bytes(vector.token_challenge), fixed);
    assert.equal(toHex(pending.request), vector.token_request);
    assert.equal(toHex(await tokenFrom(key, pending, bytes(vector.token_response))), vector.token);
    assert.match(tokenHeader(bytes(vector.token)), /^PrivateToken token="AA[A-Za-z0-9_-]+=*"$/);
  });
}

test("the issuer sees another number each time, and never the message itself", async () => {
  const vector = vectors("rfc9474-blind-rsa").find(({ salt }) => salt);
  const asked = [];
  const crypto = { subtle: globalThis.crypto.subtle, getRandomValues: (array) => (asked.push(array.length), globalThis.crypto.getRandomValues(array)) };
  const key = new BlindKey(number(vector.n), number(vector.e), { crypto });
  const [message, salt] = [bytes(vector.msg ?? vector.input_msg), new Uint8Array(48)];
  // Even with one salt: the blinding factor alone hides the message, and it has 64 bits more than the key.
  const plain = toHex((await key.blind(message, { salt, inverse: 1n })).data);
  const seen = new Set([plain]);
  for (let i = 0; i < 4; i++) seen.add(toHex((await key.blind(message, { salt })).data));
  assert.equal(seen.size, 5);
  assert.deepEqual(asked, Array(4).fill(key.size + 8));
  const issuer = await tokenKeyFrom(bytes(vectors("rfc9578-privacy-pass").vectors.find(({ salt }) => salt).pkS));
  const fixed = { salt, inverse: 1n };
  const challenge = new Uint8Array(60);
  assert.notEqual(toHex((await askFor(issuer, challenge, fixed)).request), toHex((await askFor(issuer, challenge, fixed)).request)); // another nonce
});

test("a key that is cut off, has another algorithm or a tail is refused", async () => {
  const good = bytes(vectors("rfc9578-privacy-pass").vectors.find(({ salt }) => salt).pkS);
  const other = good.slice();
  other[20] ^= 1;
  for (const wrong of [good.slice(0, -1), good.slice(1), other, new Uint8Array(0), Uint8Array.from([...good, 0])]) await assert.rejects(tokenKeyFrom(wrong), Malformed);
});

test("base64url has one form", () => {
  assert.deepEqual(fromBase64url("AAE"), Uint8Array.of(0, 1));
  for (const wrong of ["AAF", "AAE=", "A", "A+", 7]) assert.equal(fromBase64url(wrong), null);
});

test("a wallet in a store that holds something else is refused, and says so", async () => {
  const store = new MemoryStore();
  await store.update(() => ['{"format":"other"}', undefined]);
  await assert.rejects(new Wallet(store).left("0".repeat(64)), InvalidParameter);
  assert.equal(await new Wallet(new MemoryStore()).left("0".repeat(64)), 0);
});

const KEY = vectors("rfc9578-privacy-pass").vectors.find(({ salt }) => salt).pkS;
const ADMISSION = { issuer: "https://issuer.example.org", key: Buffer.from(KEY, "hex").toString("base64url"), tokens: 2 };
const SHUFFLE = { key: "0f".repeat(32), reports: 1000, minutes: 60 };

test("documents with tokens and a shuffler are read, and need a wallet", async () => {
  const survey = await openSurvey(surveyBytes({ admission: ADMISSION, shuffle: SHUFFLE }));
  assert.deepEqual({ ...survey.document.admission }, ADMISSION);
  const open = (options) => new Session(survey, new Ledger(new MemoryStore()), "https://shuffler.example.org", options);
  assert.throws(() => open({}), (error) => error instanceof InvalidParameter && /wallet/.test(error.message));
  await assert.rejects(open({ wallet: new Wallet(new MemoryStore()), fetch: () => assert.fail("nothing is sent without a token") }).answer({ commute: 1 }), NotAdmitted);
});

for (const [what, changes] of Object.entries({
  "a field too many": { admission: { ...ADMISSION, more: 1 } },
  "no tokens": { admission: { ...ADMISSION, tokens: 0 } },
  "a key that is not base64url": { admission: { ...ADMISSION, key: `${ADMISSION.key}=` } },
  "a key that is too short": { admission: { ...ADMISSION, key: "AAAA" } },
  "an issuer that is no address": { admission: { ...ADMISSION, issuer: "javascript:alert(1)" } },
  "admission that is null": { admission: null },
  "a shuffler's key in capitals": { shuffle: { ...SHUFFLE, key: SHUFFLE.key.toUpperCase() } },
  "batches of one": { shuffle: { ...SHUFFLE, reports: 1 } },
  "half a minute": { shuffle: { ...SHUFFLE, minutes: "30" } },
  "both in windows": { admission: ADMISSION, shuffle: SHUFFLE, repeat: "each-window", window: "week" },
})) {
  test(`a document with ${what} is refused`, () => assert.rejects(openSurvey(surveyBytes(changes)), Malformed));
}

test("a token goes to an issuer over https or on this machine only", async () => {
  const survey = await openSurvey(surveyBytes({ admission: { ...ADMISSION, issuer: "http://issuer.example.org" } }));
  const fetch = () => assert.fail("nothing is sent");
  await assert.rejects(new Wallet(new MemoryStore()).fetch(survey, "code", { fetch }), (error) => error instanceof InvalidParameter && /issuer/.test(error.message));
  await assert.rejects(new Wallet(new MemoryStore()).fetch(survey, "two words", { fetch, allowHttp: true }), InvalidParameter);
});
