// A device that answers with the JavaScript client, its draws and its randomness fixed; prints all that it can see.
//
//   node device.mjs SDK COLLECTOR HASH LEDGER ANSWERS OUTPUT

import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";

const [, , sdk, collector, hash, path, answers, output] = process.argv;
const given = [];
const crypto = {
  getRandomValues(array) {
    const bytes = createHash("shake256", { outputLength: array.byteLength }).update(`${given.length}`).digest();
    given.push(array.byteLength <= 32 ? bytes.toString("hex") : array.byteLength);
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
    return array;
  },
  subtle: globalThis.crypto.subtle,
};
Object.defineProperty(globalThis, "crypto", { value: crypto });

const { Ledger, Session, SystemCoins } = await import(pathToFileURL(`${sdk}/src/index.js`));
const { FileStore } = await import(pathToFileURL(`${sdk}/src/file-store.js`));
const waits = [];
const shown = [];
let draws = 0;
const show = (thing) => shown.push(JSON.stringify(thing, (_, item) => (typeof item === "bigint" ? `${item}n` : item)));
async function attempt(action) {
  try {
    show(await action());
  } catch (error) {
    show([error.name, error.message, `${error.cause}`, Object.entries(error)]);
  }
}

const ledger = new Ledger(new FileStore(path), { limit: "20" });
const device = (attempts) =>
  Session.open(collector, hash, ledger, { coins: new SystemCoins(crypto), patience: { attempts, sleep: async (time) => waits.push(time) } });
const [patient, hasty] = [await device(3), await device(2)];
for (const { survey } of [patient, hasty]) {
  survey.channel.draw = () => {
    draws += 1;
    return BigInt(output);
  };
}
const answer = (session, day) => () => session.answer(JSON.parse(answers), { today: new Date(`2026-03-0${day}T10:00:00Z`) });
await attempt(() => patient.explain());
for (const day of [1, 1]) await attempt(answer(patient, day));
for (const day of [2, 3]) await attempt(answer(hasty, day));
show(await ledger.pending(hash));
for (let time = 0; time < 2; time++) await attempt(() => hasty.deliver());
for (const day of [4, 5]) await attempt(answer(patient, day));
show([`${await ledger.spent()}`, await ledger.pending(hash), Object.keys(patient).sort(), Object.keys(ledger).sort()]);
show({ ...patient, survey: null, ledger: null });
console.log(JSON.stringify({ shown, waits, draws, given }));
