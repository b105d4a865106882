/**
 * The one kind of failure a command may end with, and its shape on the link.
 * Anything else that is thrown counts as our own fault: `internal`.
 */

const CODES = new Map([
  ["tab_not_found", -32001],
  ["invalid_arguments", -32602],
  ["unknown_command", -32601],
  ["internal", -32603],
]);

const RETRYABLE = new Set(["timeout", "debugger_busy"]);

export class CommandError extends Error {
  /**
   * @param {string} reason
   * @param {string} message
   * @param {Record<string, unknown>} [data]
   */
  constructor(reason, message, data = {}) {
    super(message);
    this.reason = reason;
    this.data = data;
  }
}

/** @param {unknown} error */
export function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  // The debugger wraps the errors of its protocol in JSON.
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
  const reason = known ? error.reason : "internal";
  return {
    code: CODES.get(reason) ?? -32000,
    message: messageOf(error),
    data: { ...(known ? error.data : {}), reason, retryable: RETRYABLE.has(reason) },
  };
}
