// A ledger in a file, for Node: written beside, flushed, and renamed, while a lock file keeps others out.

import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { InvalidParameter } from "./errors.js";

const PATIENCE = 30_000;

/** A store that only its owner can read (mode 0600). A crash leaves the old text or the new one. */
export class FileStore {
  constructor(path) {
    this.path = path;
  }

  async update(change) {
    const unlock = await this.#lock();
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
      if (process.platform !== "win32" && (await stat(this.path)).mode & 0o077) {
        throw new InvalidParameter("path must be a file that only its owner can read and write (mode 0600)");
      }
      return await readFile(this.path, "utf8");
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
  }

  async #write(text) {
    const beside = `${this.path}.new`;
    const file = await open(beside, "w", 0o600);
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

  async #lock() {
    const path = `${this.path}.lock`;
    for (let waited = 0; ; waited += 20) {
      try {
        const lock = await open(path, "wx", 0o600);
        await lock.writeFile(String(process.pid));
        await lock.close();
        return () => rm(path, { force: true });
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
        if (await this.#abandoned(path)) await rm(path, { force: true });
        else if (waited >= PATIENCE) throw new InvalidParameter("another process holds the ledger; if none does, remove the file ending in .lock");
        else await sleep(20);
      }
    }
  }

  /** Did the process that holds the lock end without letting go? */
  async #abandoned(path) {
    try {
      const holder = Number(await readFile(path, "utf8"));
      if (holder > 0) process.kill(holder, 0);
      return false;
    } catch (error) {
      return error.code === "ESRCH";
    }
  }
}
