// Bytes side by side, and the bytes of an answer.

const MOST_BYTES = 1 << 24;

/** Arrays of bytes, and texts of ASCII, as one array. */
export function joined(...parts) {
  const arrays = parts.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
  const whole = new Uint8Array(arrays.reduce((size, array) => size + array.length, 0));
  arrays.reduce((at, array) => (whole.set(array, at), at + array.length), 0);
  return whole;
}

/** A number as bytes, the largest first. */
export function bigEndian(value, length) {
  return Uint8Array.from({ length }, (_, i) => Math.floor(value / 2 ** (8 * (length - 1 - i))) % 256);
}

/** The bytes of an answer, or null as soon as there are too many. */
export async function bodyOf(answer) {
  if (!answer.body) return new Uint8Array(await answer.arrayBuffer());
  const reader = answer.body.getReader();
  const pieces = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      return null;
    }
    pieces.push(value);
  }
  return joined(...pieces);
}
