/**
 * Pairing with a server by a code that both sides show; `browser/link/code_pairing.py` is the other
 * end, and says why nobody in between can have the same code.
 */

import { bytesOf, hex } from "../../worker/shared/hex.js";

const ANSWER_MS = 40_000;
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 6;
const CURVE = { name: "ECDH", namedCurve: "P-256" };
const encoder = new TextEncoder();

/** @typedef {{port: number, secret: string}} Pairing */

/**
 * @param {number} port
 * @param {(code: string) => void} showCode
 * @param {AbortSignal} signal
 * @returns {Promise<Pairing>} once the person has given the code to the server
 */
export async function pairByCode(port, showCode, signal) {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
  const key = hex(await crypto.subtle.exportKey("raw", publicKey));
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const commitment = hex(await digest(`${key}:${nonce}`));
  const begun = await post(port, { commitment }, signal);
  const [id, serverKey] = [String(begun.id), String(begun.key)];
  await post(port, { id, key, nonce }, signal);
  // A code that nobody looks at any more must not be listed.
  const ended = () =>
    void post(port, { id, ended: true }, new AbortController().signal).catch(() => {});
  signal.addEventListener("abort", ended, { once: true });
  showCode(await codeOf(port, key, serverKey, nonce));
  for (;;) {
    const { sealed } = await post(port, { id }, signal);
    if (!sealed) continue;
    signal.removeEventListener("abort", ended);
    return unseal(port, await agreedKey(port, privateKey, serverKey), sealed);
  }
}

/**
 * @param {number} port
 * @param {string} key
 * @param {string} serverKey
 * @param {string} nonce
 */
export async function codeOf(port, key, serverKey, nonce) {
  const bytes = await digest(`tabhub-pairing:${port}:${key}:${serverKey}:${nonce}`);
  const first = [...new Uint8Array(bytes)].slice(0, CODE_LENGTH);
  return first.map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

/** @param {string} text */
function digest(text) {
  return crypto.subtle.digest("SHA-256", encoder.encode(text));
}

/**
 * @param {number} port
 * @param {CryptoKey} privateKey
 * @param {string} serverKey
 */
async function agreedKey(port, privateKey, serverKey) {
  const other = await crypto.subtle.importKey("raw", bytesOf(serverKey), CURVE, false, []);
  const shared = await crypto.subtle.deriveBits({ name: "ECDH", public: other }, privateKey, 256);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", shared, hmac, false, ["sign"]);
  const text = encoder.encode(`tabhub-pairing-key:${port}`);
  const bytes = await crypto.subtle.sign("HMAC", key, text);
  return crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["decrypt"]);
}

/**
 * @param {number} port
 * @param {CryptoKey} key
 * @param {{iv: string, data: string}} sealed
 * @returns {Promise<Pairing>}
 */
async function unseal(port, key, { iv, data }) {
  const how = { name: "AES-GCM", iv: bytesOf(String(iv)) };
  const opened = await crypto.subtle.decrypt(how, key, bytesOf(String(data))).catch(() => null);
  const found = opened && JSON.parse(new TextDecoder().decode(opened));
  if (found?.port !== port || typeof found.secret !== "string") {
    throw new Error("What answered cannot be read: it is not the server that began.");
  }
  return { port, secret: found.secret };
}

/**
 * @param {number} port
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
async function post(port, body, signal) {
  const answer = await fetch(`http://127.0.0.1:${port}/extension/pair`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  }).catch(() => null);
  signal.throwIfAborted();
  if (!answer) throw new Error(`No server answers on port ${port}. Start one: tabhub start`);
  const found = await answer.json().catch(() => ({}));
  if (answer.ok) return found;
  throw new Error(String(found.error?.message ?? `What answers on port ${port} is not tabhub.`));
}
