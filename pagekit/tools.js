/** The tools of one page: what they look like, and how they are run. */

import { asResult } from "./results.js";

/** @typedef {import("./pagekit.d.ts").Handler} Handler */
/** @typedef {import("./pagekit.d.ts").ToolOptions} ToolOptions */
/** @typedef {import("./pagekit.d.ts").ToolResult} ToolResult */

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
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
  if (!NAME.test(name)) throw new TypeError(`A tool cannot be called ${JSON.stringify(name)}.`);
  if (!description) throw new TypeError(`The tool ${name} has no description.`);
  if (typeof handler !== "function") throw new TypeError(`The tool ${name} has no handler.`);
  const { title, outputSchema, annotations } = options;
  const more = { title, outputSchema, annotations };
  // What a message cannot carry must not be found out later.
  return JSON.parse(
    JSON.stringify({ name, description, inputSchema: schema ?? NO_ARGUMENTS, ...more }),
  );
}

export class Tools {
  /** @type {Map<string, {told: object, handler: Handler}>} */
  #all = new Map();
  /** @type {Map<number, AbortController>} */
  #running = new Map();

  /**
   * @param {{name: string}} told
   * @param {Handler} handler
   */
  add(told, handler) {
    if (this.#all.has(told.name)) throw new Error(`There is a tool ${told.name} already.`);
    this.#all.set(told.name, { told, handler });
  }

  /** @param {string} name */
  remove(name) {
    return this.#all.delete(name);
  }

  all() {
    return [...this.#all.values()].map(({ told }) => told);
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
    const answer = await this.#outcome(toolName, args, { signal: stop.signal, progress });
    this.#running.delete(callId);
    send({ type: "TOOL_CALL_RESULT", callId, ...answer });
  }

  /**
   * @param {string} name
   * @param {any} args
   * @param {import("./pagekit.d.ts").CallContext} context
   */
  async #outcome(name, args, context) {
    const tool = this.#all.get(name);
    try {
      if (!tool) throw new Error(`The tool ${name} is not here any more.`);
      return { success: true, result: asResult(await tool.handler(args, context)) };
    } catch (error) {
      return { success: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** @param {number} callId */
  cancel(callId) {
    this.#running.get(callId)?.abort();
  }
}
