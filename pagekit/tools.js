/** The tools of one page: what they look like, and how they are run. */

import { asResult } from "./results.js";

/** @typedef {import("./pagekit.d.ts").Handler} Handler */
/** @typedef {import("./pagekit.d.ts").ToolOptions} ToolOptions */
/** @typedef {import("./pagekit.d.ts").ToolResult} ToolResult */

const NAME = /^[\w./-]{1,128}$/;
const NO_ARGUMENTS = { type: "object", properties: {} };

/**
 * A tool as it is told; what nobody could use is refused here, where its author sees it.
 * @param {string} name
 * @param {string} description
 * @param {object | null | undefined} schema
 * @param {unknown} handler
 * @param {ToolOptions} [options]
 */
export function described(name, description, schema, handler, options = {}) {
  const wrong =
    (!NAME.test(name) && "needs a name of 1 to 128 A-Z a-z 0-9 _ . / -") ||
    (!description && "has no description") ||
    (typeof handler !== "function" && "has no handler");
  if (wrong) throw new TypeError(`The tool ${name} ${wrong}.`);
  const { title, outputSchema, annotations } = options;
  const more = { title, outputSchema, annotations };
  // What a message cannot carry must not be found out later.
  return JSON.parse(
    JSON.stringify({ name, description, inputSchema: schema ?? NO_ARGUMENTS, ...more }),
  );
}

function gone() {
  throw new Error("The tool is not here any more.");
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

/** @extends {Map<string, {told: object, handler: Handler}>} */
export class Tools extends Map {
  /** @type {Map<number, AbortController>} */
  #running = new Map();

  /**
   * @param {{name: string}} told
   * @param {Handler} handler
   */
  add(told, handler) {
    const { name } = told;
    if (this.has(name)) throw new Error(`There is a tool ${name} already.`);
    this.set(name, { told, handler });
  }

  /**
   * @param {{toolName: string, args: any, callId: number}} call
   * @param {(message: object) => void} send
   */
  async run({ toolName, args, callId }, send) {
    const stop = new AbortController();
    this.#running.set(callId, stop);
    /** @type {import("./pagekit.d.ts").CallContext["progress"]} */
    const progress = (progress, total, message) =>
      send({ type: "TOOL_CALL_PROGRESS", callId, progress, total, message });
    const handler = this.get(toolName)?.handler ?? gone;
    const answer = await outcome(handler, args, { signal: stop.signal, progress });
    this.#running.delete(callId);
    send({ type: "TOOL_CALL_RESULT", callId, ...answer });
  }

  /** @param {number} callId */
  cancel(callId) {
    this.#running.get(callId)?.abort();
  }
}
