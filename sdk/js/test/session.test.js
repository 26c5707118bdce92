import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, linkSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";

import { FileStore } from "../src/file-store.js";
import { AlreadyAnswered, BudgetSpent, InvalidParameter, Ledger, LocalStorageStore, MemoryStore, NotDelivered, Session, browserStore, openSurvey } from "../src/index.js";
import { Fraction } from "../src/fraction.js";
import { drawAround, layersOf } from "../src/kept-layers.js";
import { windowNumber } from "../src/survey.js";
import { hashOf, surveyBytes } from "./survey.js";

const folder = mkdtempSync(join(tmpdir(), "deniable-"));
after(() => rmSync(folder, { recursive: true }));
const patience = { sleep: async () => {} };
const day = (text) => ({ today: new Date(`${text}T10:00:00Z`) });

/** A collector that answers from a script of statuses (0: nobody answers) and remembers what it got. */
function collector(bytes, ...script) {
  const posted = [];
  async function fetch(url, { method = "GET", body } = {}) {
    if (method === "GET") return { status: 200, arrayBuffer: async () => bytes };
    posted.push({ url, ...JSON.parse(body) });
    const status = script.length ? script.shift() : 200;
    if (status === 0) throw new TypeError("no network");
    return { status };
  }
  return { fetch, posted };
}

async function session(changes = {}, script = [], ledger = new Ledger(new MemoryStore())) {
  const bytes = surveyBytes(changes);
  const { fetch, posted } = collector(bytes, ...script);
  return { device: await Session.open("http://127.0.0.1:9", hashOf(bytes), ledger, { fetch, patience }), posted, ledger };
}

test("an answer is sent once, with a key and a report", async () => {
  const { device, posted } = await session();
  const receipt = await device.answer({ commute: 1 });
  assert.equal(receipt.delivered, true);
  assert.deepEqual([`${receipt.spent}`, `${receipt.left}`], [`${device.survey.epsilon}`, `${device.survey.epsilon}`]);
  assert.equal(posted.length, 1);
  assert.match(posted[0].key, /^[0-9a-f]{32}$/);
  assert.equal(posted[0].report, receipt.report);
  assert.deepEqual(Object.keys(posted[0]).sort(), ["key", "report", "url"]);
});

test("a second answer in the same window is refused", async () => {
  const { device } = await session();
  await device.answer({ commute: 1 });
  await assert.rejects(device.answer({ commute: 0 }), AlreadyAnswered);
});

test("after no answer or 'later' the same bytes go again under the same key", async () => {
  const { device, posted } = await session({}, [0, 503, 429, 200]);
  await device.answer({ commute: 1 });
  assert.equal(posted.length, 4);
  assert.equal(new Set(posted.map((item) => item.key + item.report)).size, 1);
});

test("what cannot be sent waits, and another answer does not change it", async () => {
  const { device, posted, ledger } = await session({}, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  const first = await device.answer({ commute: 0 });
  const second = await device.answer({ commute: 1 });
  assert.deepEqual([first.delivered, second.delivered, second.report], [false, false, first.report]);
  assert.equal(await device.deliver(), 1);
  assert.equal(new Set(posted.map((item) => item.key + item.report)).size, 1);
  assert.equal(await ledger.stateOf(device.survey.hash, ""), "sent");
  assert.equal(await device.deliver(), 0);
});

test("a refusal for good is final", async () => {
  const { device, ledger } = await session({}, [410]);
  await assert.rejects(device.answer({ commute: 1 }), NotDelivered);
  assert.equal(await ledger.stateOf(device.survey.hash, ""), "refused");
});

test("fresh reports stop at the lifetime budget", async () => {
  const { device } = await session({ repeat: "each-window", window: "day" });
  await device.answer({ commute: 1 }, day("2026-11-15"));
  await device.answer({ commute: 1 }, day("2026-11-16"));
  await assert.rejects(device.answer({ commute: 1 }, day("2026-11-17")), BudgetSpent);
});

test("a person's own limit holds across surveys", async () => {
  const ledger = new Ledger(new MemoryStore(), { limit: 1 });
  for (const title of ["One", "Another"]) await (await session({ title }, [], ledger)).device.answer({ commute: 1 });
  const { device } = await session({ title: "A third" }, [], ledger);
  await assert.rejects(device.answer({ commute: 1 }), /your own limit/);
});

test("a permanent answer is drawn once and costs once; a changed one costs again", async () => {
  const { device, posted } = await session({ repeat: "permanent", window: "day", mechanism: "oue", example: 1 });
  for (const text of ["2026-11-15", "2026-11-16", "2026-11-17"]) await device.answer({ commute: "red" }, day(text));
  assert.equal(new Set(posted.map((item) => item.report)).size, 1);
  assert.equal(new Set(posted.map((item) => item.key)).size, 3);
  const changed = await device.answer({ commute: "green" }, day("2026-11-18"));
  assert.equal(`${changed.left}`, "0");
  await assert.rejects(device.answer({ commute: "blue" }, day("2026-11-19")), BudgetSpent);
});

test("windows are counted as in Python", () => {
  assert.deepEqual(["2026-11-15", "2026-11-16"].map((text) => windowNumber(text, "week")), [105704, 105705]);
  assert.deepEqual([windowNumber("2026-11-15", "day"), windowNumber("2026-11-15", "month")], [739_935, 24_322]);
});

test("a kept answer is paid for once and reported afresh", async () => {
  const changes = { repeat: "kept:2", window: "day", budget: "4" };
  const { device, posted, ledger } = await session(changes);
  for (let number = 1; number <= 28; number++) {
    const { spent } = await device.answer({ commute: 1 }, day(`2026-11-${String(number).padStart(2, "0")}`));
    assert.equal(`${spent}`, "2");
  }
  assert.equal(new Set(posted.map((item) => item.key)).size, 28);
  const again = (await session(changes, [], ledger)).device;
  assert.equal(`${(await again.answer({ commute: 0 }, day("2026-12-01"))).spent}`, "4");
  assert.match((await device.explain()).repeating, /when it changes is not hidden/);
  for (const repeat of ["kept:02", "kept:4/2", "kept:", "kept:9", "kept:1/100"]) await assert.rejects(session({ ...changes, repeat }));
});

test("the layers of a kept answer are exactly the survey's channel", async () => {
  const { device } = await session({ repeat: "kept:2", window: "day", budget: "4" });
  const [first, around] = layersOf(device.survey);
  const size = new Fraction(BigInt(device.survey.channel.inputs));
  const one = new Fraction(1n);
  const own = first.times(around).plus(size.minus(one));
  const other = first.plus(around).plus(size.minus(one).minus(one));
  assert.equal(`${own.over(other)}`, `${device.survey.channel.ratio()}`);
  // Every number that can be drawn, for small weights: each value as often as it should.
  const counts = [0, 0, 0];
  for (let drawn = 0n; drawn < 7n; drawn++) counts[Number(drawAround(new Fraction(3n, 2n), 3n, 1n, { below: () => drawn }))] += 1;
  assert.deepEqual(counts, [2, 3, 2]);
});

test("devices with turns report in their own windows only, and restarts keep the turn", async () => {
  const days = Array.from({ length: 28 }, (_, number) => `2026-11-${String(number + 1).padStart(2, "0")}`);
  for (const [repeat, most] of [["turns:7", 2], ["random-window", 1]]) {
    const changes = { repeat, window: "day", opens: "2026-11-01", closes: "2026-11-28" };
    const { device, posted, ledger } = await session(changes);
    const heard = [];
    for (const text of days.slice(0, repeat === "turns:7" ? 14 : 28)) {
      const again = (await session(changes, [], ledger)).device; // a restart: the same ledger
      const { silent, report } = await (Number(text.slice(-2)) % 2 ? device : again).answer({ commute: 1 }, day(text));
      assert.equal(silent, report === null);
      if (!silent) heard.push(Number(text.slice(-2)));
    }
    assert.equal(heard.length, most);
    if (most === 2) assert.equal(heard[1] - heard[0], 7);
    assert.ok(posted.length <= most);
    assert.match((await device.explain()).repeating, /each device/);
  }
  for (const repeat of ["turns:1", "turns:1001", "turns:07", "turns:x"]) await assert.rejects(session({ repeat, window: "day" }));
  await assert.rejects(session({ repeat: "random-window", window: "day" }));
});

const CHANGES = { mechanism: "tagged-response", example: 1, repeat: "changes:2", window: "day", budget: "1", opens: "2026-11-01", closes: "2026-11-06" };
const november = (number) => day(`2026-11-0${number}`);
const outputOf = (report) => Number(`0x${report.slice(-2)}`);

test("a device of a survey of changes keeps its length over restarts, and its whole life costs epsilon once", async () => {
  const seen = new Set();
  for (let number = 0; number < 40; number++) {
    const { posted, ledger } = await session(CHANGES);
    const heard = [];
    for (let date = 1; date <= 6; date++) {
      const { device } = await session(CHANGES, [], ledger); // a restart: the same ledger
      const { silent, report, spent } = await device.answer({ commute: date > 2 ? 1 : 0 }, november(date));
      assert.equal(`${spent}`, "1");
      assert.equal(silent, report === null);
      if (!silent) heard.push([date, outputOf(report)]);
    }
    const [length] = heard[0];
    assert.deepEqual(heard.map(([date]) => date), [1, 2, 3, 4, 5, 6].filter((date) => date % length === 0));
    assert.deepEqual(new Set(heard.map(([, output]) => 2 ** (output >> 1))), new Set([length]));
    assert.equal(posted.length, 0);
    seen.add(length);
  }
  assert.deepEqual([...seen].sort(), [1, 2, 4]); // one of them is missing less than once in three million times
});

test("a device that was away at the beginning of a stretch says nothing of it, and a late report is forgotten", async () => {
  for (let heard = 0; heard < 3; ) {
    const { device, ledger } = await session(CHANGES, Array(40).fill(0));
    const first = await device.answer({ commute: 0 }, november(1));
    if (first.silent) continue;
    heard += 1;
    const again = await session(CHANGES, [], ledger);
    assert.equal(await again.device.deliver(november(2)), 0);
    assert.deepEqual([again.posted, await ledger.pending(device.survey.hash)], [[], []]);
    assert.deepEqual([(await again.device.answer({ commute: 1 }, november(3))).silent, (await again.device.answer({ commute: 1 }, november(4))).silent], [true, false]);
    assert.equal((await again.device.answer({ commute: 0 }, november(6))).silent, true);
    await assert.rejects(again.device.answer({ commute: 1 }, november(5)), /goes back/);
    assert.equal((await again.device.answer({ commute: 1 }, november(6))).silent, true);
    assert.match((await device.explain()).repeating, /whether your answer changed.*each device/);
  }
});

test("surveys of changes that are none are refused", async () => {
  const odd = [{ repeat: "changes:0" }, { repeat: "changes:02" }, { repeat: "changes:7" }, { closes: null }, { closes: "2026-11-09" }, { budget: "2" }, { keep_reports: true }];
  for (const changed of [...odd, { mechanism: "k-rr", example: 0 }, { mechanism: "randomized-response", example: 1 }]) await assert.rejects(session({ ...CHANGES, ...changed }), undefined, JSON.stringify(changed));
  await session(CHANGES);
});

test("rappor may not be permanent here, because its bits are kept elsewhere", async () => {
  await assert.rejects(session({ repeat: "permanent", window: "day", mechanism: "rappor" }), InvalidParameter);
});

test("surveys that are not open are not answered", async () => {
  const { device, posted } = await session({ opens: "2026-11-15", closes: "2026-11-20" });
  for (const text of ["2026-11-14", "2026-11-21"]) await assert.rejects(device.answer({ commute: 1 }, day(text)), InvalidParameter);
  assert.equal(posted.length, 0);
  await device.answer({ commute: 1 }, day("2026-11-20"));
});

test("plain http to another machine is refused", () => {
  return assert.rejects(Session.open("http://example.org", "0".repeat(64), new Ledger(new MemoryStore())), InvalidParameter);
});

test("the words say the odds, the budget and what leaves", async () => {
  const { device } = await session();
  const words = await device.explain();
  assert.match(words.sending, /yours with a chance of/);
  assert.match(words.meaning, /odds between two answers/);
  assert.match(words.staying, /stays on this device/);
  assert.match(words.budget, /One answer costs/);
});

test("a ledger in a file survives, holds no value, and only its owner reads it", async () => {
  const path = join(folder, "ledger.json");
  const { device } = await session({ mechanism: "oue", example: 1 }, [], new Ledger(new FileStore(path)));
  await device.answer({ commute: "red" });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.ok(!readFileSync(path, "utf8").includes("red"));
  const { device: again } = await session({ mechanism: "oue", example: 1 }, [], new Ledger(new FileStore(path)));
  await assert.rejects(again.answer({ commute: "green" }), AlreadyAnswered);
});

test("a ledger's file has one name, in a folder that not everybody can write to, whatever the process does", async () => {
  const path = join(folder, "named.json");
  await new FileStore(path).update(() => ["text", null]);
  symlinkSync(path, join(folder, "link.json"));
  await assert.rejects(new FileStore(join(folder, "link.json")).update(() => ["other", null]), /one name/);
  linkSync(path, join(folder, "second.json"));
  for (const name of [path, join(folder, "second.json")]) await assert.rejects(new FileStore(name).update(() => ["other", null]), /one name/);
  const open = mkdtempSync(join(folder, "open-"));
  chmodSync(open, 0o777);
  await assert.rejects(new FileStore(join(open, "ledger.json")).update(() => ["text", null]), /not everybody can write/);
  const [before, store] = [process.cwd(), new FileStore(relative(process.cwd(), join(folder, "moved.json")))];
  await store.update(() => ["text", null]);
  process.chdir(open);
  try {
    assert.equal(await store.update((text) => [null, text]), "text");
  } finally {
    process.chdir(before);
  }
});

test("many at once on one file draw once", async () => {
  const path = join(folder, "shared.json");
  const devices = await Promise.all(Array.from({ length: 8 }, () => session({}, new Array(40).fill(0), new Ledger(new FileStore(path)))));
  const receipts = await Promise.all(devices.map(({ device }) => device.answer({ commute: 1 })));
  assert.equal(new Set(receipts.map(({ report }) => report)).size, 1);
  assert.equal(`${receipts[0].spent}`, `${devices[0].device.survey.epsilon}`);
});

test("a lock left by a process that is gone is taken over", async () => {
  const path = join(folder, "crashed.json");
  const holding = `new (await import("./src/file-store.js")).FileStore(process.argv[1]).update(() => process.kill(process.pid, "SIGKILL"))`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", holding, path], { cwd: new URL("..", import.meta.url) });
  assert.equal(signal, "SIGKILL");
  assert.match(readdirSync(`${path}.lock`)[0], /^held-/);
  assert.equal(await new FileStore(path).update((text) => ["text", text]), null);
  assert.deepEqual(readdirSync(`${path}.lock`), ["free"]);
});

test("a lock is waited for while its holder may be running: here, on another machine, or where nobody can tell", async () => {
  const path = join(folder, "held.json");
  await new FileStore(path).update(() => ["text", null]);
  const [, , , place] = (await new FileStore(path).update(() => [null, readdirSync(`${path}.lock`)[0]])).split("-");
  const random = "0".repeat(32);
  const gone = 2147483646;
  const elsewhere = "f".repeat(16) + place.slice(16);
  const otherSpace = place.slice(0, 32) + "f".repeat(16);
  let before = "free";
  for (const name of [`held-${process.pid}-unknown-${place}-${random}`, `held-${gone}-1-${elsewhere}-${random}`, `held-${gone}-1-${otherSpace}-${random}`, "held-by-somebody"]) {
    renameSync(`${path}.lock/${before}`, `${path}.lock/${name}`);
    before = name;
    await assert.rejects(new FileStore(path, { patience: 60 }).update(() => ["other", null]), /another process holds the ledger/);
  }
  // A holder from before the machine was started is gone, and so is one whose number now belongs to another process.
  const earlier = place.slice(0, 16) + "f".repeat(16) + place.slice(32);
  for (const name of [`held-${process.pid}-1-${earlier}-${random}`, `held-${gone}-1-${place}-${random}`]) {
    renameSync(`${path}.lock/${before}`, `${path}.lock/${name}`);
    before = "free";
    assert.equal(await new FileStore(path, { patience: 60 }).update((text) => [null, text]), "text");
  }
});

/** A Web Lock manager: one at a time for each name. */
function webLocks() {
  const last = new Map();
  const request = (name, alone) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(alone);
    last.set(name, turn.catch(() => {}));
    return turn;
  };
  return { request };
}

test("localStorage keeps a ledger, too, where there are locks", async () => {
  const kept = new Map();
  const storage = { getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text) };
  const { device } = await session({}, [], new Ledger(new LocalStorageStore("mine", storage, webLocks())));
  await device.answer({ commute: 1 });
  assert.equal(JSON.parse(kept.get("mine")).spent[device.survey.hash].length, 1);
});

test("localStorage without locks is refused", async () => {
  assert.throws(() => new LocalStorageStore("mine", {}, undefined), /two tabs could draw twice/);
  await assert.rejects(browserStore(), InvalidParameter);
});

test("a store that fails sends nothing", async () => {
  const full = { update: async (change) => (change(null)[0] === null ? change(null)[1] : Promise.reject(new Error("disk full"))) };
  const { device, posted } = await session({}, [], new Ledger(full));
  await assert.rejects(device.answer({ commute: 1 }), /disk full/);
  assert.equal(posted.length, 0);
  assert.equal((await openSurvey(surveyBytes())).names.length, 1);
});

test("a survey that never ends is not read to its end, and every request may be given up", async () => {
  let sent = 0;
  const signals = [];
  const pull = (stream) => ((sent += 1 << 20), stream.enqueue(new Uint8Array(1 << 20)));
  const endless = async (url, { signal }) => (signals.push(signal), { status: 200, body: new ReadableStream({ pull }) });
  const opening = Session.open("http://127.0.0.1:9", "0".repeat(64), new Ledger(new MemoryStore()), { fetch: endless });
  await assert.rejects(opening, (error) => error instanceof NotDelivered && /too long/.test(error.message));
  assert.ok(sent < 1 << 26);
  const { device } = await session();
  device.fetch = async (url, { signal }) => (signals.push(signal), { status: 200 });
  await device.answer({ commute: 1 });
  assert.ok(signals.length === 2 && signals.every((signal) => signal instanceof AbortSignal));
});
