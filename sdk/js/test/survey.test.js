import assert from "node:assert/strict";
import { test } from "node:test";

import { channelFrom } from "../src/channels/index.js";
import { InvalidParameter, Malformed, NotTrusted, OutOfDomain } from "../src/errors.js";
import { explain } from "../src/explain.js";
import { parseJson } from "../src/json.js";
import { openSurvey, periodOf } from "../src/survey.js";
import { fingerprintOf, hashOf, surveyBytes } from "./survey.js";

const documentOf = (bytes) => parseJson(new TextDecoder().decode(bytes));

test("a good survey opens, and says its domain", async () => {
  const bytes = surveyBytes();
  const survey = await openSurvey(bytes, { hash: hashOf(bytes) });
  assert.deepEqual([survey.title, survey.names, survey.domainOf("commute").kind], ["Travel to work", ["commute"], "categories"]);
});

test("a survey says when new numbers are published", async () => {
  const live = explain(await openSurvey(surveyBytes({ release: "live" })));
  assert.match(live.releasing, /published live: anyone who looks just before and just after your report learns that report/);
  const steps = explain(await openSurvey(surveyBytes({ release: { reports: 500, minutes: 1 } })));
  assert.match(steps.releasing, /after at least 500 new reports and at least 1 minute\./);
});

test("another hash is another survey", async () => {
  await assert.rejects(openSurvey(surveyBytes(), { hash: "0".repeat(64) }), NotTrusted);
});

test("one more unit of weight is more than epsilon, and is refused", async () => {
  const { channel, mechanism } = documentOf(surveyBytes());
  const greedy = { ...channel, high: channel.high + 1 };
  await assert.rejects(openSurvey(surveyBytes({ channel: greedy, fingerprint: fingerprintOf(greedy, mechanism) })), /more than epsilon/);
});

test("changed integers without a changed fingerprint are refused", async () => {
  const { channel } = documentOf(surveyBytes());
  await assert.rejects(openSurvey(surveyBytes({ channel: { ...channel, high: channel.high - 1 } })), NotTrusted);
});

test("a channel that tells everything is refused", async () => {
  const { mechanism } = documentOf(surveyBytes());
  const channel = { kind: "identity", size: 2 };
  await assert.rejects(openSurvey(surveyBytes({ channel, fingerprint: fingerprintOf(channel, mechanism) })), /more than epsilon/);
});

for (const [name, changes] of Object.entries({
  "an unknown field": { extra: 1 },
  "another version": { version: 2 },
  "a strategy for one attribute": { strategy: "split" },
  "an epsilon that is not the mechanism's": { epsilon: "2" },
  "a window without repetition": { window: "day" },
  "no attributes": { attributes: [] },
  "a date that is none": { opens: "2026-13-01" },
  "a release of one report at a time": { release: { reports: 1, minutes: 60 } },
  "a release without a time": { release: { reports: 100 } },
  "a release in other words": { release: "sometimes" },
})) {
  test(`${name} is refused`, async () => {
    await assert.rejects(openSurvey(surveyBytes(changes)), Malformed);
  });
}

test("a budget below the price is refused", async () => {
  await assert.rejects(openSurvey(surveyBytes({ budget: "1/1000" })), NotTrusted);
});

test("text that is not canonical is refused", async () => {
  const loose = new TextEncoder().encode(` ${new TextDecoder().decode(surveyBytes())}`);
  await assert.rejects(openSurvey(loose, { hash: hashOf(loose) }), Malformed);
});

test("answers that do not belong are refused without being shown", async () => {
  const survey = await openSurvey(surveyBytes());
  for (const answers of [{}, { commute: 918273645 }, { commute: "918273645" }, { commute: 0, more: 918273645 }, null, 918273645]) {
    assert.throws(() => survey.inputOf(answers), (error) => error instanceof OutOfDomain && !error.message.includes("918273645"));
  }
});

test("integers that break a channel's rule are refused", () => {
  const broken = [
    { kind: "two-level", set: "singleton", size: 4, low: 0, high: 2 },
    { kind: "two-level", set: "singleton", size: 4, low: 3, high: 2 },
    { kind: "two-level", set: "singleton", size: 4, low: 1, high: 2, extra: 1 },
    { kind: "two-level", set: "projective", size: 4, prime: 9, dimension: 2, low: 1, high: 2 },
    { kind: "two-level", set: "nearest", rows: 2, columns: 2, members: 1, region: [0, 0, 1], low: 1, high: 2 },
    { kind: "two-level", set: "constructor", low: 1, high: 2 },
    { kind: "table", rows: [[1, 2], [2, 2]] },
    { kind: "table", rows: [[1, -1], [0, 0]] },
    { kind: "profile", weights: [1, 2, 1], first: -1, inputs: 4, margin: 0, wrap: false },
    { kind: "reference", low: [1, 1], high: [2, 2], output_at: [0, 1], input_at: [0], total: 5 },
    { kind: "bits", size: 3, own: 4, other: 1, scale: 4 },
    { kind: "toString" },
    null,
  ];
  for (const compiled of broken) assert.throws(() => channelFrom(compiled), InvalidParameter);
});

test("windows are named as in Python", () => {
  const names = (day) => ["survey", "day", "week", "month"].map((window) => periodOf(new Date(`${day}T12:00:00Z`), window));
  assert.deepEqual(names("2026-11-15"), ["", "2026-11-15", "2026-W46", "2026-11"]);
  assert.deepEqual(names("2027-01-01"), ["", "2027-01-01", "2026-W53", "2027-01"]);
  assert.deepEqual(names("2024-12-30"), ["", "2024-12-30", "2025-W01", "2024-12"]);
});
