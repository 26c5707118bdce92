import type { Store } from "./index.js";

/** A ledger in a file, for Node; only its owner can read it (mode 0600). */
export class FileStore implements Store {
  /** `patience`: milliseconds to wait for another process that holds the ledger. */
  constructor(path: string, options?: { patience?: number });
  update<Result>(change: (text: string | null) => [string | null, Result]): Promise<Result>;
}
