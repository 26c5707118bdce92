// Oblivious HTTP (RFC 9458): the relay sees this device and cannot read, the collector reads and sees only the relay.

import { decodeResponse, encodeRequest } from "./binary-http.js";
import { bigEndian, bodyOf, joined } from "./bytes.js";
import { InvalidParameter, Malformed, NotDelivered } from "./errors.js";
import { Context, ENCAPSULATED, KEM, KEY, NONCE, SUITE, checkedSubtle, expand, extract, sending } from "./hpke.js";

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", cache: "no-store" };
const REPLY_NONCE = Math.max(KEY, NONCE);
const NEW_KEYS = [400, 401, 422];

const sixteen = (data, at) => 256 * data[at] + data[at + 1];

/** The first key of a gateway that this client can use: its number and 32 bytes. */
export function decodeKeys(data) {
  for (let at = 0; at < data.length; ) {
    const length = sixteen(data, at);
    const part = data.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    const suites = part.subarray(5 + ENCAPSULATED);
    if (!(length >= 3) || part.length !== length) throw new Malformed("a list of key configurations is cut off");
    if (sixteen(part, 1) !== KEM) continue;
    if (!suites.length || suites.length % 4 || suites.length !== sixteen(part, 3 + ENCAPSULATED)) throw new Malformed("a key configuration is malformed");
    for (let suite = 0; suite < suites.length; suite += 4) {
      if (SUITE.every((byte, i) => byte === suites[suite + i])) return { id: part[0], key: part.slice(3, 3 + ENCAPSULATED) };
    }
  }
  throw new Malformed("the gateway offers no key for X25519, HKDF-SHA256 and AES-128-GCM");
}

/** An encapsulated request, and what opens its reply. `ephemeral` is for published test vectors only. */
export async function encapsulate(subtle, { id, key }, message, ephemeral = null) {
  const header = joined([id], bigEndian(KEM, 2), SUITE);
  const context = await sending(subtle, key, joined("message/bhttp request", [0], header), ephemeral);
  const data = joined(header, context.encapsulated, await context.seal(message));
  const openReply = async (reply) => {
    const nonce = reply.subarray(0, REPLY_NONCE);
    const secret = extract(joined(context.encapsulated, nonce), context.export("message/bhttp response", REPLY_NONCE));
    const parts = [["key", KEY], ["nonce", NONCE]].map(([label, length]) => expand(secret, joined(label), length));
    return new Context(subtle, context.encapsulated, ...parts, null).open(reply.subarray(REPLY_NONCE));
  };
  return { data, openReply };
}

/**
 * A `fetch` for sessions that goes through a relay: `Session.open(collector, hash, ledger, { fetch: await throughRelay(relay) })`.
 *
 * The survey comes through it too. Whatever the relay itself says is not the collector's word: a report then waits in the ledger.
 */
export async function throughRelay(relay, { fetch = globalThis.fetch, allowHttp = false, subtle = undefined } = {}) {
  const { href, protocol, hostname } = new URL(relay);
  if (protocol !== "https:" && !(protocol === "http:" && (allowHttp || LOCAL.includes(hostname)))) {
    throw new InvalidParameter("relay must begin with https:// (http:// is for this machine only, unless allowHttp is set)");
  }
  const curve = await checkedSubtle(subtle);
  let kept = null;

  async function gatewayKey(signal) {
    if (kept === null) {
      const answer = await fetch(`${href.replace(/\/+$/, "")}/ohttp-keys`, { ...QUIET, signal });
      const data = answer.status === 200 ? await bodyOf(answer) : null;
      if (data === null) throw new NotDelivered(`the relay does not give out the gateway's keys (status ${answer.status})`);
      kept = decodeKeys(data);
    }
    return kept;
  }

  return async (url, { method = "GET", headers = {}, body = "", signal } = {}) => {
    const { protocol: scheme, host, pathname } = new URL(url);
    const fields = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const message = encodeRequest({ method, scheme: scheme.slice(0, -1), authority: host, path: pathname, headers: fields, body: joined(body) });
    for (let attempt = 0; attempt < 2; attempt++) {
      const { data, openReply } = await encapsulate(curve, await gatewayKey(signal), message);
      const answer = await fetch(href, { ...QUIET, method: "POST", headers: { "Content-Type": "message/ohttp-req" }, body: data, signal });
      if (answer.status === 200) {
        const reply = await bodyOf(answer);
        if (reply === null) throw new NotDelivered("the relay's answer is too long");
        const inner = decodeResponse(await openReply(reply));
        return { status: inner.status, arrayBuffer: async () => inner.body };
      }
      if (!NEW_KEYS.includes(answer.status)) throw new NotDelivered(`the relay cannot pass it on (status ${answer.status})`);
      kept = null; // the gateway may have a new one
    }
    throw new NotDelivered("the gateway behind the relay does not take its own key; try again later");
  };
}
