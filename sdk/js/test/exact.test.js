import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";

import { SystemCoins } from "../src/coins.js";
import { InvalidParameter, Malformed } from "../src/errors.js";
import { allows, expBounds, expNumber } from "../src/exponential.js";
import { Fraction, exactly, fractionFromText } from "../src/fraction.js";
import { toHex } from "../src/hexadecimal.js";
import { bitCount, bitLength, combinations, floorDiv, isqrt } from "../src/integers.js";
import { canonicalJson, parseJson } from "../src/json.js";
import { digest, hmac, sha256 } from "../src/sha256.js";

const LENGTHS = [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000];

test("our SHA-256 and HMAC are Node's, at every kind of length", async () => {
  for (const length of LENGTHS) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) % 251);
    const wanted = createHash("sha256").update(bytes).digest("hex");
    assert.equal(toHex(sha256(bytes)), wanted);
    assert.equal(toHex(await digest(bytes)), wanted);
    const key = Uint8Array.from({ length: 32 }, (_, i) => i + length);
    assert.equal(toHex(hmac(key, bytes)), createHmac("sha256", key).update(bytes).digest("hex"));
  }
});

test("without crypto.subtle, as on plain http, the digest is the same", async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  const bytes = new TextEncoder().encode("deniable");
  const wanted = toHex(await digest(bytes));
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  try {
    assert.equal(toHex(await digest(bytes)), wanted);
    assert.throws(() => new SystemCoins(), InvalidParameter);
  } finally {
    Object.defineProperty(globalThis, "crypto", before);
  }
});

test("doubles are taken at face value, and given back to the nearest, ties to even", () => {
  for (const value of [0, 1, -1, 0.1, 1 / 3, Math.PI, 1e300, -1e-300, 5e-324, 2.2250738585072014e-308, 2 ** 53 - 1, 123456.789]) {
    assert.equal(exactly(value).toNumber(), value);
  }
  assert.equal(new Fraction(2n ** 53n + 1n).toNumber(), 2 ** 53);
  assert.equal(new Fraction(2n ** 53n + 3n).toNumber(), 2 ** 53 + 4);
  assert.equal(new Fraction(2n ** 54n + 6n).toNumber(), 2 ** 54 + 8);
  assert.equal(new Fraction(1n, 10n).toNumber(), 0.1);
  assert.equal(new Fraction(1n, 3n).toNumber(), 1 / 3);
  for (const other of [NaN, Infinity, "1", null, undefined, true, [1]]) assert.equal(exactly(other), null);
});

test("numbers in text are exact, and nothing else is a number", () => {
  assert.equal(`${fractionFromText("6/4")}`, "3/2");
  assert.equal(`${fractionFromText("-0.25")}`, "-1/4");
  for (const bad of ["", "1/0", "1e5", "0x10", "1/-2", " 1", "1.", 1, null]) assert.throws(() => fractionFromText(bad), InvalidParameter);
});

test("e**x lies between its bounds, which meet at every precision", () => {
  for (const text of ["1/1000000000", "1/10", "1", "3/2", "20", "100"]) {
    const x = fractionFromText(text);
    for (const bits of [64, 256]) {
      const [low, high, scale] = expBounds(x, bits);
      assert.ok(low < high);
      assert.ok((high - low) << BigInt(bits) <= high);
      const middle = new Fraction(low, 1n << scale).toNumber();
      assert.ok(Math.abs(middle / Math.exp(x.toNumber()) - 1) < 1e-13);
    }
  }
  // e = 2.71828182845904523536028747135266249775724709369995…
  const [one, e] = [fractionFromText("1"), "2.7182818284590452353602874713526624977572470936999"];
  assert.equal(allows(one, fractionFromText(`${e}5`)), true);
  assert.equal(allows(one, fractionFromText(`${e}6`)), false);
  assert.equal(allows(fractionFromText("0"), fractionFromText("1")), true);
  assert.equal(expNumber(one), Math.E);
  assert.throws(() => expBounds(fractionFromText("101"), 64), InvalidParameter);
});

test("JSON keeps whole numbers, and refuses what has two meanings", () => {
  assert.equal(parseJson("[12345678901234567890123]")[0], 12345678901234567890123n);
  assert.equal(parseJson('"\\u00e9\\ud83d\\ude00"'), "é😀");
  for (const bad of ['{"a":1,"a":2}', "[1.5]", "[1e3]", "[01]", "[1,]", "{a:1}", '"\t"', "[NaN]", "", "[1] 2", '"\\x"', '"\\u12"', "nul"]) {
    assert.throws(() => parseJson(bad), Malformed, bad);
  }
  assert.throws(() => parseJson("[".repeat(300) + "]".repeat(300)), Malformed);
  assert.equal(parseJson('{"__proto__": 1}')["__proto__"], 1);
});

test("canonical JSON is sorted, without spaces, in ASCII", () => {
  assert.equal(canonicalJson({ b: [1, null, true], a: "é\u007f\n\"" }), '{"a":"\\u00e9\\u007f\\n\\"","b":[1,null,true]}');
  assert.throws(() => canonicalJson(1.5), Malformed);
});

test("whole numbers of any size", () => {
  assert.deepEqual([0n, 1n, 255n, 256n, 2n ** 100n].map(bitLength), [0, 1, 8, 9, 101]);
  assert.equal(bitCount(2n ** 100n - 1n), 100);
  assert.deepEqual([floorDiv(-7n, 2n), floorDiv(7n, 2n), floorDiv(-8n, 2n)], [-4n, 3n, -4n]);
  for (const n of [0n, 1n, 2n, 3n, 4n, 24n, 25n, 10n ** 40n - 1n, 10n ** 40n]) assert.ok(isqrt(n) ** 2n <= n && (isqrt(n) + 1n) ** 2n > n);
  assert.equal(combinations(60n, 30n), 118264581564861424n);
});

test("system coins come in blocks WebCrypto allows, and no byte is used twice", () => {
  const asked = [];
  let next = 0;
  const crypto = { getRandomValues: (block) => (asked.push(block.length), block.set(Uint8Array.from({ length: block.length }, () => next++ & 255)), block) };
  const coins = new SystemCoins(crypto);
  for (let i = 0; i < 70_000; i++) assert.equal(coins.belowNumber(256), i & 255);
  assert.deepEqual(asked, [65536, 65536]);
});

test("system coins are even: 60,000 dice stay within bounds that chance crosses less than once in a million runs", () => {
  const coins = new SystemCoins();
  const seen = new Array(6).fill(0);
  for (let i = 0; i < 60_000; i++) seen[coins.belowNumber(6)]++;
  // Standard deviation 91.3; 5.5 of them, for six faces: below 3e-7.
  for (const times of seen) assert.ok(Math.abs(times - 10_000) < 502, `${seen}`);
});
