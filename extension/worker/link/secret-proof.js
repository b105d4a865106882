/**
 * Extension and server prove to each other that they know the secret without sending it: between
 * two runs of the server, any program could have taken its port.
 */

import { bytesOf, hex } from "../shared/hex.js";

const ANSWER_MS = 10_000;
const PROOF = /^[0-9a-f]{64}$/;
const encoder = new TextEncoder();

/** @typedef {{port: number, secret: string}} Identity */

/**
 * A pass that opens the server's link once; null if the program on the port does not know the
 * secret.
 * @param {Identity} identity
 * @returns {Promise<string | null>}
 */
export async function passFor({ port, secret }) {
  const word = crypto.randomUUID();
  const proof = await askForProof(port, word, ANSWER_MS);
  const key = await keyOf(secret);
  if (!(await isProof(proof, key, `tabhub:${port}:${word}`))) return null;
  const text = encoder.encode(`tabhub-link:${port}:${word}`);
  return `once.${word}.${hex(await crypto.subtle.sign("HMAC", key, text))}`;
}

/**
 * What answers on the port: the server; one that does not know the secret; something else; nothing.
 * @param {Identity} identity
 * @param {number} milliseconds how long to wait
 * @returns {Promise<"server" | "other secret" | "other program" | "nothing">}
 */
export async function whatAnswers({ port, secret }, milliseconds) {
  const word = crypto.randomUUID();
  let proof;
  try {
    proof = await askForProof(port, word, milliseconds);
  } catch {
    return "nothing";
  }
  if (await isProof(proof, await keyOf(secret), `tabhub:${port}:${word}`)) return "server";
  return hasForm(proof) ? "other secret" : "other program";
}

/** @param {string} secret */
export function keyOf(secret) {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["sign", "verify"]);
}

/**
 * @param {number} port
 * @param {string} challenge
 * @param {number} milliseconds how long to wait
 * @returns {Promise<unknown>} undefined if what answers gives none
 */
async function askForProof(port, challenge, milliseconds) {
  const answer = await fetch(`http://127.0.0.1:${port}/health?challenge=${challenge}`, {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(milliseconds),
  });
  if (!answer.ok) return undefined;
  const found = await answer.json().catch(() => null);
  return found?.proof;
}

/**
 * @param {unknown} proof
 * @returns {proof is string} whether it has the form of a proof
 */
function hasForm(proof) {
  return typeof proof === "string" && PROOF.test(proof);
}

/**
 * @param {unknown} proof
 * @param {CryptoKey} key
 * @param {string} text the text that was signed
 */
export async function isProof(proof, key, text) {
  if (!hasForm(proof)) return false;
  return crypto.subtle.verify("HMAC", key, bytesOf(proof), encoder.encode(text));
}
