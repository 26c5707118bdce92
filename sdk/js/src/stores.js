// Where a ledger lies. A store has one method: update(change), with change(text or null) -> [new text or null, result].
// `change` runs at once and alone; the result is given back only after the new text is safe.

import { InvalidParameter } from "./errors.js";

/** In memory: for tests, and for pages that must leave nothing behind. Forgets what was spent. */
export class MemoryStore {
  #text = null;

  async update(change) {
    const [text, result] = change(this.#text);
    if (text !== null) this.#text = text;
    return result;
  }
}

/** localStorage, locked across tabs. Only where the browser has locks (secure pages and localhost): it has no transactions of its own. */
export class LocalStorageStore {
  constructor(name = "deniable-ledger", storage = globalThis.localStorage, locks = globalThis.navigator?.locks) {
    if (!storage) throw new InvalidParameter("there is no localStorage here");
    if (!locks) throw new InvalidParameter("two tabs could draw twice here: localStorage needs navigator.locks (https or localhost); use IndexedDbStore");
    this.name = name;
    this.storage = storage;
    this.locks = locks;
  }

  async update(change) {
    return this.locks.request(this.name, () => {
      const [text, result] = change(this.storage.getItem(this.name));
      if (text !== null) this.storage.setItem(this.name, text);
      return result;
    });
  }
}

/** IndexedDB: one transaction for reading and writing, flushed to disk before the result is given back. */
export class IndexedDbStore {
  #database = null;

  constructor(name = "deniable-ledger", factory = globalThis.indexedDB) {
    if (!factory) throw new InvalidParameter("there is no IndexedDB here");
    this.name = name;
    this.factory = factory;
  }

  #open() {
    this.#database ??= new Promise((done, fail) => {
      const opening = this.factory.open(this.name, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("ledger");
      opening.onsuccess = () => done(opening.result);
      opening.onerror = () => fail(opening.error);
    });
    return this.#database;
  }

  async update(change) {
    const database = await this.#open();
    return new Promise((done, fail) => {
      const transaction = database.transaction("ledger", "readwrite", { durability: "strict" });
      const table = transaction.objectStore("ledger");
      let result;
      let refused = null;
      const reading = table.get("ledger");
      reading.onsuccess = () => {
        try {
          const [text, found] = change(reading.result ?? null);
          result = found;
          if (text !== null) table.put(text, "ledger");
        } catch (error) {
          refused = error;
          transaction.abort();
        }
      };
      transaction.oncomplete = () => done(result);
      transaction.onabort = () => fail(refused ?? transaction.error);
    });
  }
}

/** The best store this page has: IndexedDB, else localStorage with locks; without either there is an error that says so. */
export async function browserStore(name = "deniable-ledger") {
  try {
    const store = new IndexedDbStore(name);
    await store.update((text) => [null, text]);
    return store;
  } catch {
    return new LocalStorageStore(name);
  }
}
