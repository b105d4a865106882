/**
 * Why there is no connection to the server, and what to do. A refused WebSocket looks like one
 * without an answer; asking for the proof of the secret shows the difference.
 */

import { readPairing } from "../shared/server-pairing.js";
import { whatAnswers } from "./secret-proof.js";

const ANSWER_MS = 1500;

/**
 * @typedef {object} Diagnosis
 * @property {string} why empty while there is a connection
 * @property {string} command that may help; empty if none does
 * @property {string} source where port and secret come from
 * @property {boolean} isKnown whether the extension knows where the server is
 * @property {boolean} isPackaged whether tabhub has written it into the extension's folder
 */

/** @typedef {Awaited<ReturnType<typeof readPairing>>} Pairing */

/**
 * @param {boolean} isOpen
 * @param {string} mismatch which of extension and server is older, if one is
 * @returns {Promise<Diagnosis>}
 */
export async function diagnose(isOpen, mismatch) {
  const pairing = await readPairing();
  const found = isOpen ? { why: "", command: "" } : await whyNot(pairing);
  return {
    ...found,
    ...(mismatch && { why: mismatch, command: "" }),
    source: sourceOf(pairing),
    isKnown: pairing !== null,
    isPackaged: Boolean(pairing?.isPackaged),
  };
}

/**
 * @param {Pairing} pairing
 * @returns {Promise<{why: string, command: string}>}
 */
async function whyNot(pairing) {
  if (!pairing) return { why: "", command: "tabhub start --background" };
  const { port } = pairing;
  // What holds the port may be any program, so it is asked for a proof and not sent the secret.
  switch (await whatAnswers(pairing, ANSWER_MS)) {
    case "server":
      return { why: "The server answers; the connection will come.", command: "" };
    case "other secret":
      return {
        why: `What answers on port ${port} does not know the secret: it is wrong, or this is another server.`,
        command: "tabhub config show --show-secret",
      };
    case "other program":
      return { why: `What answers on port ${port} is not tabhub.`, command: "tabhub status" };
    case "nothing":
      return {
        why: `No server answers on port ${port}. Is tabhub running?`,
        command: "tabhub start",
      };
  }
}

/** @param {Pairing} pairing */
function sourceOf(pairing) {
  if (!pairing) return "This extension does not know where the server is.";
  const where = `Port ${pairing.port}`;
  return pairing.isPackaged
    ? `${where} comes from a file that tabhub wrote into the extension's folder; the options are not used.`
    : `${where} is what you entered below.`;
}
