// Encryption to a public key (RFC 9180, base mode): X25519, HKDF-SHA256, AES-128-GCM, with crypto.subtle for curve and cipher.

import { bigEndian, joined } from "./bytes.js";
import { InvalidParameter, Malformed } from "./errors.js";
import { hmac } from "./sha256.js";

export const KEM = 0x0020;
export const SUITE = joined(bigEndian(1, 2), bigEndian(1, 2));
export const ENCAPSULATED = 32;
export const KEY = 16;
export const NONCE = 12;
const VERSION = "HPKE-v1";
const KEM_SUITE = joined("KEM", bigEndian(KEM, 2));
const WHOLE_SUITE = joined("HPKE", bigEndian(KEM, 2), SUITE);
const CURVE = { name: "X25519" };
const NONE = new Uint8Array(0);

/** HKDF-Extract with SHA-256 (RFC 5869). */
export function extract(salt, secret) {
  return hmac(salt, secret); // a salt that is empty is one of zeros
}

/** HKDF-Expand with SHA-256 (RFC 5869). */
export function expand(key, info, length) {
  let [whole, block] = [NONE, NONE];
  for (let counter = 1; whole.length < length; counter++) {
    block = hmac(key, joined(block, info, [counter]));
    whole = joined(whole, block);
  }
  return whole.slice(0, length);
}

const labeledExtract = (suite, salt, label, secret) => extract(salt, joined(VERSION, suite, label, secret));
const labeledExpand = (suite, key, label, info, length) => expand(key, joined(bigEndian(length, 2), VERSION, suite, label, info), length);

/** crypto.subtle with X25519, or InvalidParameter with what to do. */
export async function checkedSubtle(subtle = globalThis.crypto?.subtle) {
  if (!subtle) throw new InvalidParameter("encryption needs crypto.subtle, which browsers give to pages over https only; open the page over https");
  try {
    await subtle.generateKey(CURVE, false, ["deriveBits"]);
  } catch {
    throw new InvalidParameter("this browser has no X25519 in crypto.subtle, which a relay needs; use a newer one (Chrome 133, Firefox 130, Safari 17, Node 20)");
  }
  return subtle;
}

/** One message and its answer: a key, a nonce, and a secret that both sides can export. */
export class Context {
  constructor(subtle, encapsulated, key, nonce, exporter) {
    Object.assign(this, { subtle, encapsulated, nonce, exporter });
    this.key = subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);
  }

  async seal(text) {
    return new Uint8Array(await this.subtle.encrypt({ name: "AES-GCM", iv: this.nonce }, await this.key, text));
  }

  async open(sealed) {
    try {
      return new Uint8Array(await this.subtle.decrypt({ name: "AES-GCM", iv: this.nonce }, await this.key, sealed));
    } catch {
      throw new Malformed("an encrypted message cannot be opened: it was changed, cut off, or made for another key");
    }
  }

  export(label, length) {
    return labeledExpand(WHOLE_SUITE, this.exporter, "sec", label, length);
  }
}

/** The sender's side, to a public key of 32 bytes. `ephemeral`, a pair of keys, is for published test vectors only. */
export async function sending(subtle, receiver, info, ephemeral = null) {
  const own = ephemeral ?? (await subtle.generateKey(CURVE, false, ["deriveBits"]));
  const encapsulated = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
  let exchanged;
  try {
    const other = await subtle.importKey("raw", receiver, CURVE, false, []);
    exchanged = new Uint8Array(await subtle.deriveBits({ ...CURVE, public: other }, own.privateKey, 256));
  } catch {
    throw new Malformed("a public key is not one of X25519");
  }
  if (exchanged.every((byte) => byte === 0)) throw new Malformed("a public key is not one of X25519");
  const pseudorandom = labeledExtract(KEM_SUITE, NONE, "eae_prk", exchanged);
  const shared = labeledExpand(KEM_SUITE, pseudorandom, "shared_secret", joined(encapsulated, receiver), 32);
  const hashes = ["psk_id_hash", "info_hash"].map((label, i) => labeledExtract(WHOLE_SUITE, NONE, label, i ? info : NONE));
  const schedule = joined([0], ...hashes);
  const secret = labeledExtract(WHOLE_SUITE, shared, "secret", NONE);
  const [key, nonce, exporter] = [["key", KEY], ["base_nonce", NONCE], ["exp", 32]].map(([label, length]) => labeledExpand(WHOLE_SUITE, secret, label, schedule, length));
  return new Context(subtle, encapsulated, key, nonce, exporter);
}
