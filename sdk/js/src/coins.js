// The only source of randomness between a secret and its report.

import { InvalidParameter } from "./errors.js";
import { bitLength } from "./integers.js";

const BLOCK = 65536; // the most bytes WebCrypto gives in one call

/**
 * Uniform integers below n by rejection: the least number of whole bytes, big-endian, the top bits beyond
 * those of n - 1 dropped, a number that is n or more thrown away. The same rule in every language, so equal
 * bytes give equal draws. `take(count)` gives the next bytes.
 */
export class Coins {
  constructor(take) {
    this.take = take;
  }

  /** A uniform BigInt in [0, n). */
  below(n) {
    if (n < 1n) throw new InvalidParameter("below(n) needs n >= 1");
    const bits = bitLength(n - 1n);
    if (bits === 0) return 0n;
    if (bits <= 53) return BigInt(this.belowNumber(Number(n)));
    const size = (bits + 7) >> 3;
    const excess = BigInt(8 * size - bits);
    for (;;) {
      let drawn = 0n;
      const bytes = this.take(size);
      for (let i = 0; i < size; i++) drawn = (drawn << 8n) | BigInt(bytes[i]);
      drawn >>= excess;
      if (drawn < n) return drawn;
    }
  }

  /** The same for a Number n of at most 2**53, without BigInt. */
  belowNumber(n) {
    if (!(n >= 1 && n <= 2 ** 53)) throw new InvalidParameter("belowNumber(n) needs 1 <= n <= 2**53");
    const high = Math.floor((n - 1) / 2 ** 32);
    const bits = high ? 64 - Math.clz32(high) : 32 - Math.clz32((n - 1) >>> 0);
    if (bits === 0) return 0;
    const size = (bits + 7) >> 3;
    const excess = 8 * size - bits;
    for (;;) {
      const bytes = this.take(size);
      // The dropped bits are the lowest ones of the last byte: doubles hold the rest exactly.
      let drawn = 0;
      for (let i = 0; i < size - 1; i++) drawn = drawn * 256 + bytes[i];
      drawn = drawn * 2 ** (8 - excess) + (bytes[size - 1] >> excess);
      if (drawn < n) return drawn;
    }
  }
}

/** The system's CSPRNG through WebCrypto, read in blocks; a byte is wiped as soon as it was used. */
export class SystemCoins extends Coins {
  constructor(crypto = globalThis.crypto) {
    if (typeof crypto?.getRandomValues !== "function") {
      throw new InvalidParameter("this browser has no crypto.getRandomValues: no private report can be made here");
    }
    const block = new Uint8Array(BLOCK);
    let next = BLOCK;
    super((count) => {
      if (next + count > BLOCK) {
        crypto.getRandomValues(block);
        next = 0;
      }
      const taken = block.slice(next, next + count);
      block.fill(0, next, next + count);
      next += count;
      return taken;
    });
  }
}

/** Coins that read the given bytes and then stop: for tests and vectors, never for real reports. */
export class ReplayCoins extends Coins {
  constructor(bytes) {
    let next = 0;
    super((count) => {
      if (next + count > bytes.length) throw new RangeError("the replayed bytes are used up");
      next += count;
      return bytes.subarray(next - count, next);
    });
    this.left = () => bytes.length - next;
  }
}
