// One of several processes with one ledger. Commands come on standard input, one a line; what it sent goes out, one a line.
//
//   node racer.mjs SDK race              then lines with paths: draw on that ledger
//   node racer.mjs SDK hold PATH         die while holding the lock
//   node racer.mjs SDK die PATH N VALUE  answer, and die before the N-th file operation (0: never)
//   node racer.mjs SDK day PATH N VALUE  answer a permanent question on the N-th of March

import { appendFileSync } from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , sdk, mode, path, number, value] = process.argv;
const files = createRequire(import.meta.url)("node:fs/promises");

/** From now on, this process is killed before its N-th file operation. */
async function dieBefore(count) {
  let left = count;
  const counted = (operation) =>
    function (...given) {
      left -= 1;
      if (left === 0) process.kill(process.pid, "SIGKILL");
      return operation.apply(this, given);
    };
  const handle = await files.open(sdk, "r");
  const kind = Object.getPrototypeOf(handle);
  await handle.close();
  for (const name of ["writeFile", "sync", "close"]) kind[name] = counted(kind[name]);
  for (const name of ["mkdir", "open", "readFile", "readdir", "readlink", "rename", "rm", "stat", "lstat", "link", "unlink"]) files[name] = counted(files[name]);
  syncBuiltinESMExports();
}

if (mode === "die" && Number(number) > 0) await dieBefore(Number(number));
const { FileStore } = await import(pathToFileURL(`${sdk}/src/file-store.js`));
const { AlreadyAnswered, Ledger, Session, openSurvey } = await import(pathToFileURL(`${sdk}/src/index.js`));
const { surveyBytes } = await import(pathToFileURL(`${sdk}/test/survey.js`));
const permanent = mode === "day" ? { repeat: "permanent", window: "day" } : {};
const survey = await openSurvey(surveyBytes({ mechanism: "olh", ...permanent }));
const today = new Date(`2026-03-0${mode === "day" ? number : 1}T10:00:00Z`);

async function draw(ledger, fetch) {
  const session = new Session(survey, new Ledger(new FileStore(ledger), { limit: "1000" }), "http://127.0.0.1:9", { fetch, patience: { sleep: async () => {} } });
  const answers = { [survey.names[0]]: Number(value ?? 0) };
  try {
    await session.answer(answers, { today });
  } catch (error) {
    if (!(error instanceof AlreadyAnswered)) throw error;
  }
  await session.deliver();
}

if (mode === "hold") {
  await new FileStore(path).update(() => process.kill(process.pid, "SIGKILL"));
} else if (mode === "die" || mode === "day") {
  await draw(path, async (url, { body }) => {
    appendFileSync(`${path}.sent`, `${body}\n`);
    return { status: 200 };
  });
} else {
  console.log("ready");
  for await (const ledger of createInterface({ input: process.stdin })) {
    const sent = [];
    await draw(ledger, async (url, { body }) => {
      sent.push(JSON.parse(body));
      return { status: 200 };
    });
    console.log(JSON.stringify(sent));
  }
}
