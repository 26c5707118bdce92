// A device that answers a survey again and again sends, from the same coins, what the Python client sends.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ReplayCoins } from "../src/coins.js";
import { fromHex } from "../src/hexadecimal.js";
import { BudgetSpent, Ledger, MemoryStore, Session, openSurvey } from "../src/index.js";
import { canonicalJson, parseJson } from "../src/json.js";
import { hashOf } from "./survey.js";

const FILE = new URL("../../../spec/vectors/streams.json", import.meta.url);
const { devices } = parseJson(readFileSync(FILE, "utf8"), { reals: true });
const accepting = async () => ({ status: 200 });

test("there is a device for every way of repeating", () => assert.equal(devices.length, 6));

for (const { survey: document, hash, days } of devices) {
  test(`${document.repeat}: coins give the same silence, the same reports and the same cost`, async () => {
    const bytes = new TextEncoder().encode(canonicalJson(document));
    assert.equal(hashOf(bytes), hash);
    const survey = await openSurvey(bytes, { hash });
    const ledger = new Ledger(new MemoryStore());
    for (const { day, answer, coins, report, refused, spent } of days) {
      const replayed = new ReplayCoins(fromHex(coins));
      // As after a restart: all that a device remembers is in its ledger.
      const device = new Session(survey, ledger, "http://127.0.0.1:9", { fetch: accepting, coins: replayed });
      const answering = device.answer({ travel: answer }, { today: new Date(`${day}T10:00:00Z`) });
      if (refused) await assert.rejects(answering, BudgetSpent);
      else assert.equal((await answering).report, report);
      assert.equal(replayed.left(), 0);
      assert.equal(`${await ledger.spent(hash)}`, spent);
    }
  });
}
