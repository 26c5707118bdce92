// One report as bytes: 'dn', version 1, the recipe's fingerprint, then the output, big-endian, in a fixed width.

import { InvalidParameter } from "./errors.js";
import { fromHex } from "./hexadecimal.js";
import { bitLength } from "./integers.js";

const HEADER = 19;

/** How many bits an output takes: enough for the largest one, and at least one. */
export function outputBits(channel) {
  return Math.max(1, bitLength(channel.outputs - 1n));
}

/** The bytes of one report. Their length does not depend on the output. */
export function encodeReport(fingerprint, channel, output) {
  if (output < 0n || output >= channel.outputs) throw new InvalidParameter("the output is not one of this channel's");
  const size = (outputBits(channel) + 7) >> 3;
  const bytes = new Uint8Array(HEADER + size);
  bytes.set([0x64, 0x6e, 1]);
  bytes.set(fromHex(fingerprint), 3);
  bytes.set(fromHex(output.toString(16).padStart(2 * size, "0")), HEADER);
  return bytes;
}
