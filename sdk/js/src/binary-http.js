// Requests and answers as bytes (RFC 9292, messages of known length), padded.

import { bigEndian, joined } from "./bytes.js";
import { Malformed } from "./errors.js";

const SMALLEST = 1024;

/** The size of a message that has to hold this many bytes: a power of two. */
export function paddedSize(length) {
  let size = SMALLEST;
  while (size < length) size *= 2;
  return size;
}

/** A variable-length integer of QUIC (RFC 9000, section 16). */
function number(value) {
  const prefix = [2 ** 6, 2 ** 14, 2 ** 30].filter((limit) => value >= limit).length;
  const bytes = bigEndian(value, 2 ** prefix);
  bytes[0] |= prefix << 6;
  return bytes;
}

function text(data) {
  const bytes = joined(data);
  return joined(number(bytes.length), bytes);
}

/** A request as bytes; with `padded`, filled up with zeros to a power of two. */
export function encodeRequest({ method, scheme, authority, path, headers = [], body = new Uint8Array(0) }, padded = true) {
  const control = joined(number(0), ...[method, scheme, authority, path].map(text));
  if (!padded && !headers.length && !body.length) return control; // sections that are empty to the end may be left out
  const message = joined(control, text(joined(...headers.flat().map(text))), text(body));
  if (!padded) return message;
  return joined(message, new Uint8Array(paddedSize(message.length + 3) - message.length));
}

/** The status and body of an answer. */
export function decodeResponse(data) {
  let at = 0;
  const take = (length) => {
    if (at + length > data.length) throw new Malformed("a message in binary HTTP is cut off or malformed");
    at += length;
    return data.subarray(at - length, at);
  };
  const next = () => {
    const [first] = take(1);
    return take(2 ** (first >> 6) - 1).reduce((value, byte) => value * 256 + byte, first & 0x3f);
  };
  const section = () => (at === data.length ? new Uint8Array(0) : take(next()));
  if (next() !== 1) throw new Malformed("a response of known length was expected in binary HTTP");
  let status = next();
  for (; status >= 100 && status < 200; status = next()) section();
  if (status < 200 || status > 599) throw new Malformed("a response in binary HTTP has a status that does not exist");
  section(); // headers
  const body = section().slice();
  section(); // trailers
  if (data.subarray(at).some((byte) => byte !== 0)) throw new Malformed("padding in binary HTTP must be zeros");
  return { status, body };
}
