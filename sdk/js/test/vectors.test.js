// The same coins give the same index, output and report bytes as in Python, for every registered mechanism.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { channelFrom } from "../src/channels/index.js";
import { ReplayCoins } from "../src/coins.js";
import { domainFrom, inputOf } from "../src/domains/index.js";
import { OutOfDomain } from "../src/errors.js";
import { allows } from "../src/exponential.js";
import { fractionFromText } from "../src/fraction.js";
import { fromHex, toHex } from "../src/hexadecimal.js";
import { canonicalJson, parseJson } from "../src/json.js";
import { sha256 } from "../src/sha256.js";
import { encodeReport } from "../src/wire.js";

const FOLDER = new URL("../../../spec/vectors/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json") && !["coins.json", "domains.json", "streams.json"].includes(name));
const read = (file) => parseJson(readFileSync(new URL(file, FOLDER), "utf8"), { reals: true });

test("there are vectors", () => assert.ok(files.length >= 50));

test("coins: equal bytes give equal integers", () => {
  const { bounds, bytes, answers } = read("coins.json");
  const coins = new ReplayCoins(fromHex(bytes));
  assert.deepEqual(bounds.map((n) => coins.below(BigInt(n))), answers.map(BigInt));
  assert.equal(coins.left(), 0);
  const again = new ReplayCoins(fromHex(bytes));
  bounds.forEach((n, i) => (n <= 2 ** 53 ? assert.equal(again.belowNumber(Number(n)), Number(answers[i])) : again.below(n)));
});

for (const { domain: recipe, size, cases } of read("domains.json").domains) {
  test(`domains: ${recipe.kind} of ${size} gives equal indices`, () => {
    const domain = domainFrom(recipe);
    assert.equal(domain.size, BigInt(size));
    for (const [value, index] of cases) assert.equal(domain.encode(value), BigInt(index));
    const empty = recipe.kind === "key-value" ? { none: 1 } : {}; // no keys at all are a value of that domain
    for (const bad of [null, undefined, NaN, Infinity, "no such", empty, [1], [NaN, 0], 2 ** 70]) assert.throws(() => domain.encode(bad), OutOfDomain);
  });
}

/** Does any part of the compiled channel see places by direction? Its ratio is only bounded from above here. */
const bounded = (compiled) => JSON.stringify(compiled, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes('"direction-distance"');

for (const file of files) {
  const { examples } = read(file);
  examples.forEach((example, number) => {
    const channel = channelFrom(example.channel);
    const domain = domainFrom(example.mechanism.domain);
    test(`${file} example ${number}: coins give the same reports`, () => {
      assert.ok(example.cases.length >= 6);
      for (const { value, coins, index, output, report } of example.cases) {
        const replayed = new ReplayCoins(fromHex(coins));
        const found = inputOf(domain, channel, value);
        assert.equal(found, BigInt(index));
        const drawn = channel.draw(found, replayed);
        assert.equal(drawn, BigInt(output));
        assert.equal(replayed.left(), 0);
        assert.equal(toHex(encodeReport(example.fingerprint, channel, drawn)), report);
      }
    });
    test(`${file} example ${number}: the ratio and the fingerprint are the same`, () => {
      const ratio = channel.ratio();
      if (example.ratio === null) assert.equal(ratio, null);
      else if (bounded(example.channel)) assert.ok(ratio.compare(fractionFromText(example.ratio)) >= 0);
      else assert.equal(`${ratio}`, example.ratio);
      const epsilon = fractionFromText(example.mechanism.epsilon);
      if (ratio !== null && !("delta" in example.mechanism.parameters)) assert.ok(allows(epsilon, ratio));
      const text = canonicalJson({ channel: example.channel, recipe: example.mechanism });
      assert.equal(toHex(sha256(new TextEncoder().encode(text))).slice(0, 32), example.fingerprint);
    });
  });
}
