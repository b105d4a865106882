/** The tools of one page: their definitions and their running calls. */

import { asResult } from "./results.js";

/** @typedef {import("./pagekit.d.ts").Handler} Handler */
/** @typedef {import("./pagekit.d.ts").ToolOptions} ToolOptions */
/** @typedef {import("./pagekit.d.ts").ToolResult} ToolResult */

const NAME = /^[\w./-]{1,128}$/;
const NO_ARGUMENTS = { type: "object", properties: {} };

/**
 * The arguments of `registerTool` in full: the short form has neither description nor schema.
 * @param {any[]} given
 */
export function inFull(given) {
  const [name, handler, options] = given;
  const words = `${name}`.replace(/[\W_]+/g, " ");
  return typeof handler === "function" ? [name, words, null, handler, options] : given;
}

/**
 * The definition of a tool, as it is sent. Throws if the tool could not be called, so that its
 * author sees the error.
 * @param {string} name
 * @param {string} description
 * @param {object | null | undefined} schema
 * @param {unknown} handler
 * @param {ToolOptions} [options]
 */
export function described(name, description, schema, handler, options = {}) {
  const problem =
    (!NAME.test(name) && "needs a name of 1 to 128 A-Z a-z 0-9 _ . / -") ||
    (!description && "has no description") ||
    (typeof handler !== "function" && "has no handler");
  if (problem) throw new TypeError(`The tool ${name} ${problem}.`);
  const { title, outputSchema, annotations, signal } = options;
  signal?.throwIfAborted();
  const more = { title, outputSchema, annotations };
  // A value that cannot be sent as JSON throws here, not later.
  return JSON.parse(
    JSON.stringify({ name, description, inputSchema: schema ?? NO_ARGUMENTS, ...more }),
  );
}

/**
 * Whether a tool is registered already, as it is; then its author is warned.
 * @param {{name: string}} tool
 * @param {object | undefined} known
 */
export function isRepeated(tool, known) {
  const isSame = JSON.stringify(tool) === JSON.stringify(known);
  if (isSame) console.warn(`There is a tool ${tool.name} already.`);
  return isSame;
}

function removed() {
  throw new Error("The tool was removed.");
}

/**
 * @param {Handler} handler
 * @param {any} args
 * @param {import("./pagekit.d.ts").CallContext} context
 */
export async function outcome(handler, args, context) {
  try {
    return { success: true, result: asResult(await handler(args, context)) };
  } catch (error) {
    const { message = error } = /** @type {any} */ (error ?? {});
    return { success: false, error: String(message) };
  }
}

/** @extends {Map<string, {tool: object, handler: Handler}>} */
export class Tools extends Map {
  /** @type {Map<number, AbortController>} */
  #running = new Map();

  /**
   * Adds a tool, or replaces one that differs.
   * @param {{name: string}} tool
   * @param {Handler} handler
   * @returns {boolean} whether anything has changed
   */
  add(tool, handler) {
    const { name } = tool;
    if (isRepeated(tool, this.get(name)?.tool)) return false;
    this.set(name, { tool, handler });
    return true;
  }

  /**
   * @param {{toolName: string, args: any, callId: number}} call
   * @param {(type: string, message: object) => void} send
   */
  async run({ toolName, args, callId }, send) {
    const stop = new AbortController();
    this.#running.set(callId, stop);
    /** @type {import("./pagekit.d.ts").CallContext["progress"]} */
    const progress = (progress, total, message) =>
      send("TOOL_CALL_PROGRESS", { callId, progress, total, message });
    const handler = this.get(toolName)?.handler ?? removed;
    const answer = await outcome(handler, args, { signal: stop.signal, progress });
    this.#running.delete(callId);
    send("TOOL_CALL_RESULT", { callId, ...answer });
  }

  /** @param {number} callId */
  cancel(callId) {
    this.#running.get(callId)?.abort();
  }
}
