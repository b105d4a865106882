/**
 * The only error that a command throws on purpose, and its form on the link. Any other error is a
 * bug of ours and is reported as `internal`.
 */

import { clip, LONG_LENGTH } from "./clip.js";

/** The server's table has the meaning of each reason; JSON-RPC has a code only for this one. */
const UNKNOWN_COMMAND = -32601;
const FAILED = -32000;

/** @typedef {TabhubReason} Reason */

export class CommandError extends Error {
  /**
   * @param {Reason} reason
   * @param {string} message
   * @param {Record<string, unknown>} [data]
   */
  constructor(reason, message, data = {}) {
    super(message);
    this.reason = reason;
    this.data = data;
  }
}

/**
 * A page's words within a message of ours. The server puts its marks where these characters are.
 * @param {string} words
 */
export function quoted(words) {
  return `\u0002${words.replace(/[\u0002\u0003]/g, "")}\u0003`;
}

/** @param {unknown} error */
export function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  // The debugger wraps protocol errors in JSON.
  return text.startsWith('{"code"') ? protocolMessage(text) : text;
}

/** @param {string} text */
function protocolMessage(text) {
  try {
    return String(JSON.parse(text).message);
  } catch {
    return text;
  }
}

/**
 * @param {unknown} error
 * @returns {{code: number, message: string, data: Record<string, unknown>}}
 */
export function toWire(error) {
  const known = error instanceof CommandError;
  /** @type {Reason} */
  const reason = known ? error.reason : "internal";
  return {
    code: reason === "unknown_command" ? UNKNOWN_COMMAND : FAILED,
    message: clip(messageOf(error), LONG_LENGTH),
    data: { ...(known ? error.data : {}), reason },
  };
}
