// Reading the integers of a compiled channel: nothing missing, nothing unknown, nothing of the wrong kind.

import { InvalidParameter } from "../errors.js";

/** A compiled channel whose fields are taken one by one; `end` refuses what was not asked for. */
export class Fields {
  constructor(compiled) {
    if (typeof compiled !== "object" || compiled === null || Array.isArray(compiled)) throw new InvalidParameter("a channel is an object");
    this.compiled = compiled;
    this.left = new Set(Object.keys(compiled));
  }

  has(name) {
    return this.left.has(name);
  }

  take(name) {
    if (!this.left.delete(name)) throw new InvalidParameter(`the channel lacks the field ${name}`);
    return this.compiled[name];
  }

  /** A whole number as a BigInt, at least `least`. */
  integer(name, least = null) {
    return integer(name, this.take(name), least);
  }

  /** A whole number that is small enough to count with. */
  count(name, least = 0, most = 2 ** 32) {
    const found = this.take(name);
    if (!Number.isSafeInteger(found) || found < least || found > most) throw new InvalidParameter(`${name} must be a whole number from ${least} to ${most}`);
    return found;
  }

  /** A list of whole numbers as BigInts. */
  integers(name, least = null) {
    return this.list(name).map((item) => integer(name, item, least));
  }

  list(name) {
    const found = this.take(name);
    if (!Array.isArray(found) || found.length === 0) throw new InvalidParameter(`${name} must be a list that is not empty`);
    return found;
  }

  end() {
    if (this.left.size) throw new InvalidParameter(`the channel has unknown fields: ${[...this.left].sort().join(", ")}`);
  }
}

function integer(name, value, least) {
  if (typeof value !== "bigint" && !Number.isSafeInteger(value)) throw new InvalidParameter(`${name} must be a whole number`);
  const found = BigInt(value);
  if (least !== null && found < least) throw new InvalidParameter(`${name} must be at least ${least}`);
  return found;
}

/** Refuse a channel that breaks a rule. */
export function must(holds, rule) {
  if (!holds) throw new InvalidParameter(rule);
}
