/**
 * The files of plugins, which the server writes into the folder of this extension. A file's name has
 * the digest of the bytes that a person has reviewed; they are compared before each use.
 */

import { within } from "../shared/timing.js";

const ASK_MS = 5000;
const CODE_MS = 10_000;
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * @param {string} plugin
 * @param {string} digest
 */
export function fileOf(plugin, digest) {
  if (!NAME.test(plugin) || !DIGEST.test(digest)) throw new TypeError("no name of a plugin's file");
  return `adapters/${plugin}-${digest}.js`;
}

/**
 * @param {string} plugin
 * @param {string} digest
 * @returns {Promise<"intact" | "missing" | "changed">}
 */
async function inspectFile(plugin, digest) {
  const bytes = await readFile(fileOf(plugin, digest));
  if (!bytes) return "missing";
  return (await digestOf(bytes)) === digest ? "intact" : "changed";
}

/** @typedef {(method: string, params: object) => Promise<unknown>} Ask */

/** @type {Set<string>} digests for which the server was asked on this connection */
const asked = new Set();

/** The next connection may have a server that can write. */
export function forgetAsked() {
  asked.clear();
  codes.clear();
}

/**
 * The same, after the server has been asked for a missing file: once for each, since it may have no
 * place to write to.
 * @param {string} plugin
 * @param {string} digest
 * @param {Ask} ask
 */
export async function findFile(plugin, digest, ask) {
  const state = await inspectFile(plugin, digest);
  if (state !== "missing" || asked.has(digest)) return state;
  asked.add(digest);
  await within(ASK_MS, ask("sync.requestFull", {})).catch(() => {});
  return inspectFile(plugin, digest);
}

const MOST_CODE_BYTES = 16 * 1024 * 1024;
/** How many are kept: a page that loads again needs its code again. */
const MOST_CODES = 20;
/** @type {Map<string, string>} the code that the server has sent, by digest */
const codes = new Map();

/**
 * The code itself, where the server cannot write a file.
 * @param {string} plugin
 * @param {string} digest
 * @param {Ask} ask
 * @returns {Promise<string | null>} null if the server has none with this digest
 */
export async function fetchCode(plugin, digest, ask) {
  const known = codes.get(digest);
  if (known !== undefined) return known;
  const bytes = await within(CODE_MS, receive(plugin, digest, ask)).catch(() => null);
  if (!bytes || (await digestOf(bytes)) !== digest) return null;
  const text = new TextDecoder().decode(bytes);
  codes.set(digest, text);
  for (const old of [...codes.keys()].slice(0, -MOST_CODES)) codes.delete(old);
  return text;
}

/**
 * @param {string} plugin
 * @param {string} digest
 * @param {Ask} ask
 */
async function receive(plugin, digest, ask) {
  /** @type {Uint8Array[]} */
  const pieces = [];
  let offset = 0;
  for (;;) {
    const piece = /** @type {any} */ (await ask("plugin.code", { plugin, digest, offset }));
    const bytes = Uint8Array.from(atob(piece.data), (character) => character.charCodeAt(0));
    pieces.push(bytes);
    offset += bytes.length;
    if (offset > MOST_CODE_BYTES) return null;
    if (offset >= piece.size || !bytes.length) break;
  }
  return new Blob(/** @type {any} */ (pieces)).arrayBuffer();
}

/** @param {string} file */
async function readFile(file) {
  try {
    const response = await fetch(chrome.runtime.getURL(file));
    return response.ok ? await response.arrayBuffer() : null;
  } catch {
    return null;
  }
}

/** @param {ArrayBuffer} bytes */
async function digestOf(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
