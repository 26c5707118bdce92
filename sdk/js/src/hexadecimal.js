// Bytes as hexadecimal digits and back.

import { Malformed } from "./errors.js";

/** Two lower-case digits for each byte. */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of lower-case hexadecimal digits. */
export function fromHex(text) {
  if (typeof text !== "string" || text.length % 2 || !/^[0-9a-f]*$/.test(text)) {
    throw new Malformed("bytes are written as hexadecimal digits in lower case, two for each");
  }
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
