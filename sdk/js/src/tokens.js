// One-time tokens that name nobody: blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS) as Privacy Pass tokens of type 2 (RFC 9578).

import { bigEndian, joined } from "./bytes.js";
import { InvalidParameter, Malformed } from "./errors.js";
import { fromHex, toHex } from "./hexadecimal.js";
import { digest } from "./sha256.js";

const HASH = 48; // bytes of SHA-384
const SIZE = 256; // bytes of a signature
const TYPE = [0, 2];
const SIGNED = 98;
// The algorithm of a key for RSASSA-PSS with SHA-384 and a salt of 48 bytes, in DER.
const PSS = fromHex("303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108300b0609608648016503040202a203020130");

const numberOf = (bytes) => (bytes.length ? BigInt(`0x${toHex(bytes)}`) : 0n);
const bytesOf = (number, size) => fromHex(number.toString(16).padStart(2 * size, "0"));
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");

/** The bytes of base64url without padding, or null. */
export function fromBase64url(text) {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]*$/.test(text)) return null;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return base64url(bytes).replace(/=+$/, "") === text ? bytes : null;
  } catch {
    return null;
  }
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (let rest = exponent, square = base % modulus; rest > 0n; rest >>= 1n, square = (square * square) % modulus) {
    if (rest & 1n) result = (result * square) % modulus;
  }
  return result;
}

/** The inverse of a number, or null where it has none. */
function inverseOf(number, modulus) {
  let [low, high, a, b] = [number % modulus, modulus, 1n, 0n];
  while (low > 0n) {
    const times = high / low;
    [low, high, a, b] = [high - times * low, low, b - times * a, a];
  }
  return high === 1n ? ((b % modulus) + modulus) % modulus : null;
}

const sha384 = async (subtle, ...parts) => new Uint8Array(await subtle.digest("SHA-384", joined(...parts)));

/** EMSA-PSS-ENCODE of RFC 8017 with SHA-384, for a modulus of `bits` + 1 bits. */
export async function encodeMessage(subtle, message, salt, bits) {
  const length = Math.ceil(bits / 8);
  const hash = await sha384(subtle, new Uint8Array(8), await sha384(subtle, message), salt);
  const block = joined(new Uint8Array(length - salt.length - HASH - 2), [1], salt);
  for (let begin = 0, counter = 0; begin < block.length; begin += HASH, counter++) {
    const mask = await sha384(subtle, hash, bigEndian(counter, 4));
    for (let i = begin; i < Math.min(begin + HASH, block.length); i++) block[i] ^= mask[i - begin];
  }
  block[0] &= 0xff >> (8 * length - bits);
  return joined(block, hash, [0xbc]);
}

/** A signer's public key: hides messages, and turns the signer's answers into signatures. */
export class BlindKey {
  constructor(modulus, exponent, { crypto = globalThis.crypto, saltLength = HASH } = {}) {
    if (!crypto?.subtle) throw new InvalidParameter("tokens need crypto.subtle, which browsers give to pages over https only; open the page over https");
    Object.assign(this, { modulus, exponent, crypto, saltLength, bits: modulus.toString(2).length });
    this.size = Math.ceil(this.bits / 8);
  }

  /** What goes to the signer, and the secret that turns its answer into a signature. `fixed` is for published test vectors only. */
  async blind(message, fixed = null) {
    const { crypto, modulus, size } = this;
    const salt = fixed?.salt ?? crypto.getRandomValues(new Uint8Array(this.saltLength));
    const encoded = numberOf(await encodeMessage(crypto.subtle, message, salt, this.bits - 1));
    let inverse = fixed?.inverse ?? null;
    let factor = inverse === null ? null : inverseOf(inverse, modulus);
    while (inverse === null) {
      factor = numberOf(crypto.getRandomValues(new Uint8Array(size + 8))) % modulus; // uniform to 2**-64
      inverse = inverseOf(factor, modulus);
    }
    return { data: bytesOf((encoded * power(factor, this.exponent, modulus)) % modulus, size), inverse };
  }

  /** The signature of the message that was hidden; Malformed if the signer cheated. */
  async finalize(message, inverse, answer) {
    if (answer.length !== this.size) throw new Malformed("the signer's answer has the wrong length");
    const signature = bytesOf((numberOf(answer) * inverse) % this.modulus, this.size);
    if (!(await this.verify(message, signature))) throw new Malformed("the signer's answer is not a signature of what was sent");
    return signature;
  }

  async verify(message, signature) {
    const hex = this.exponent.toString(16);
    const [n, e] = [bytesOf(this.modulus, this.size), fromHex(hex.padStart(hex.length + (hex.length % 2), "0"))].map((part) => base64url(part).replace(/=+$/, ""));
    try {
      const key = await this.crypto.subtle.importKey("jwk", { kty: "RSA", alg: "PS384", n, e }, { name: "RSA-PSS", hash: "SHA-384" }, false, ["verify"]);
      return await this.crypto.subtle.verify({ name: "RSA-PSS", saltLength: this.saltLength }, key, signature, message);
    } catch {
      return false;
    }
  }
}

/** The content of a DER element at the beginning of `data`, and what follows it. */
function element(data, tag) {
  const extra = data[1] & 128 ? data[1] & 127 : 0;
  const length = extra ? Number(numberOf(data.subarray(2, 2 + extra))) : data[1];
  const content = data.subarray(2 + extra, 2 + extra + length);
  if (data.length < 2 || data[0] !== tag || content.length !== length) throw new Malformed("an issuer's key is not in the form of RFC 9578");
  return [content, data.subarray(2 + extra + length)];
}

/** An issuer's published key, with its name. */
export async function tokenKeyFrom(data, options = {}) {
  const [outer, after] = element(data, 0x30);
  if (after.length || toHex(outer.subarray(0, PSS.length)) !== toHex(PSS)) throw new Malformed("an issuer's key is not one for RSASSA-PSS with SHA-384");
  const [bits, behind] = element(outer.subarray(PSS.length), 3);
  const [numbers, past] = element(bits.subarray(1), 0x30);
  const [modulus, rest] = element(numbers, 2);
  const [exponent, end] = element(rest, 2);
  const key = new BlindKey(numberOf(modulus), numberOf(exponent), options);
  if (key.bits !== 2048 || behind.length + past.length + end.length || bits[0] !== 0) throw new Malformed("an issuer's key must have 2048 bits, and the one encoding of RFC 9578");
  return { key, name: await digest(data) };
}

/** What a token is good for (RFC 9577): an issuer, and 32 bytes of context. */
export function challengeBytes(issuer, context, origin = "") {
  const [name, place] = [issuer, origin].map((text) => new TextEncoder().encode(text));
  return joined(TYPE, bigEndian(name.length, 2), name, [context.length], context, bigEndian(place.length, 2), place);
}

/** A request for a token, and what is kept to make the token of the answer. `fixed` is for published test vectors only. */
export async function askFor({ key, name }, challenge, fixed = null) {
  const nonce = fixed?.nonce ?? key.crypto.getRandomValues(new Uint8Array(32));
  const signed = joined(TYPE, nonce, await digest(challenge), name);
  const { data, inverse } = await key.blind(signed, fixed);
  return { request: joined(TYPE, name.subarray(31), data), signed, inverse };
}

/** The token, or Malformed if the issuer's answer is wrong. */
export async function tokenFrom({ key }, { signed, inverse }, answer) {
  return joined(signed, await key.finalize(signed, inverse, answer));
}

/** The value of a header that spends a token (RFC 9577). */
export function tokenHeader(token) {
  if (token.length !== SIGNED + SIZE) throw new Malformed("a token of type 2 has 354 bytes");
  return `PrivateToken token="${base64url(token)}"`;
}
