// A ledger in a file, for Node: written beside, flushed, and renamed, while a lock keeps others out.

import { lstat, mkdir, open, readFile, readdir, readlink, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { InvalidParameter } from "./errors.js";
import { toHex } from "./hexadecimal.js";
import { sha256 } from "./sha256.js";

const PATIENCE = 30_000;
const FREE = "free";
const HELD = /^held-(\d+)-([0-9a-z]+)-([0-9a-f]+)-([0-9a-f]{32})$/;

/**
 * A store that only its owner can read (mode 0600). A crash leaves the old text or the new one. The file has one name: under
 * a second one (a symbolic or a hard link) it would have a second lock, and two processes would draw twice.
 */
export class FileStore {
  constructor(path, { patience = PATIENCE } = {}) {
    this.path = resolve(path); // stays the same when the process moves to another folder
    this.lock = new Lock(`${this.path}.lock`, patience);
  }

  async update(change) {
    await this.#checkFolder();
    const unlock = await this.lock.take();
    try {
      const [text, result] = change(await this.#read());
      if (text !== null) await this.#write(text);
      return result;
    } finally {
      await unlock();
    }
  }

  async #read() {
    try {
      await this.#check();
      return await readFile(this.path, "utf8");
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** Where everybody may rename everything, somebody else could put another file in this one's place. */
  async #checkFolder() {
    if (process.platform === "win32") return;
    const { mode } = await stat(dirname(this.path));
    if (mode & 0o002 && !(mode & 0o1000)) throw new InvalidParameter("path must lie in a folder that not everybody can write to");
  }

  async #check() {
    const found = await lstat(this.path);
    if (!found.isFile() || found.nlink > 1) throw new InvalidParameter("path must be a file with one name: not a folder, a symbolic link, or a file with a second (hard) link");
    if (process.platform === "win32") return;
    if (found.mode & 0o077) throw new InvalidParameter("path must be a file that only its owner can read and write (mode 0600)");
  }

  async #write(text) {
    const beside = `${this.path}.new`;
    await rm(beside, { force: true }); // left by a crash, perhaps
    const file = await open(beside, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, this.path);
    const folder = await open(dirname(this.path) || ".", "r");
    await folder.sync().finally(() => folder.close()); // the new name is safe, too
  }
}

/**
 * A folder with one file in it, whose name says who holds the lock: "free", or "held-" and the holder.
 *
 * Taking, releasing and taking over are each one rename of that file. The name it is renamed from can exist once, and a
 * holder's name (it ends in 16 random bytes) never comes back; so of all who try, one succeeds and the others are told that
 * the name is gone. Nothing is ever looked at first and acted upon later.
 */
class Lock {
  constructor(folder, patience) {
    this.folder = folder;
    this.patience = patience;
  }

  /** Wait for the lock; returns how to release it. */
  async take() {
    const mine = await holderName();
    for (let waited = 0; ; waited += 20) {
      const [name] = await this.#names();
      if (name === FREE || (name !== undefined && (await isGone(name)))) {
        if (await this.#renamed(name, mine)) return () => this.#renamed(mine, FREE);
      } else if (name === undefined && waited % 200 === 0) {
        await this.#create();
      }
      if (waited >= this.patience) {
        throw new InvalidParameter(`another process holds the ledger; if none does, remove the folder ${this.folder}`);
      }
      await sleep(20);
    }
  }

  /** The one name in the folder; none when there is no folder yet, or while the file is being renamed. */
  async #names() {
    try {
      return await readdir(this.folder);
    } catch (error) {
      if (error.code === "ENOENT") return [];
      if (error.code === "ENOTDIR") throw new InvalidParameter(`${this.folder} must be a folder, or nothing yet`);
      throw error;
    }
  }

  async #renamed(from, to) {
    try {
      await rename(`${this.folder}/${from}`, `${this.folder}/${to}`);
      return true;
    } catch (error) {
      if (error.code === "ENOENT") return false;
      throw error;
    }
  }

  /** Make the folder, complete with its file, under another name, and put it in place: fails when there is one already. */
  async #create() {
    const beside = `${this.folder}.${randomHex()}`;
    await mkdir(beside, { mode: 0o700 });
    try {
      await (await open(`${beside}/${FREE}`, "wx", 0o600)).close();
      await rename(beside, this.folder);
    } catch (error) {
      await rm(beside, { recursive: true, force: true });
      if (!["ENOTEMPTY", "EEXIST", "EPERM", "EACCES", "ENOTDIR"].includes(error.code)) throw error;
    }
  }
}

function randomHex() {
  return toHex(globalThis.crypto.getRandomValues(new Uint8Array(16)));
}

/** Number, when it was started, where, and 16 random bytes. */
async function holderName() {
  return `held-${process.pid}-${(await processState(process.pid)).started}-${await here()}-${randomHex()}`;
}

/** Has the process that holds the lock ended? Only where its number means the same as here can that be known. */
async function isGone(name) {
  const [, pid, started, place] = HELD.exec(name) ?? [];
  if (pid === undefined) return false;
  const [host, boot, space] = place.match(/.{16}/g);
  const [ownHost, ownBoot, ownSpace] = (await here()).match(/.{16}/g);
  if (host !== ownHost) return false; // on another machine, or in another container
  if (boot !== ownBoot) return true; // before this machine was started
  if (space !== ownSpace) return false;
  const now = await processState(Number(pid));
  return !now.running || (now.started !== "unknown" && started !== "unknown" && now.started !== started);
}

/** Machine, its last start, and its space of process numbers, 16 digits each. */
async function here() {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const space = await readlink("/proc/self/ns/pid").catch(() => "");
  return [hostname(), boot, space].map((text) => toHex(sha256(new TextEncoder().encode(text))).slice(0, 16)).join("");
}

/** Does a process with this number run, and since which tick? A number can be given to another process later. */
async function processState(pid) {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { running: !["Z", "X"].includes(fields[0]), started: fields[19] };
  } catch {
    return { running: isRunning(pid), started: "unknown" };
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH"; // EPERM: it runs, but belongs to somebody else
  }
}
