/** Registers a tool with the browser's WebMCP where there is one, otherwise with the worker. */

import { WorkerClient } from "./client.js";
import { on } from "./events.js";
import { asResult } from "./results.js";
import { described, inFull, isRepeated, outcome } from "./tools.js";

/** @type {WorkerClient | undefined} */
let shared;

/** @type {Map<string, {tool: object, end: AbortController}>} the tools that the browser has */
const natives = new Map();

/** @type {import("./pagekit.d.ts").registerTool} */
export async function registerTool(/** @type {any[]} */ ...given) {
  const [name, description, schema, handler, options = {}] = inFull(given);
  const { signal, via, client } = options;
  const native = !via && nativeContext();
  if (!native) {
    const worker = client ?? (shared ??= new WorkerClient(options));
    return worker.registerTool(name, description, schema, handler, options);
  }
  const { outputSchema: _, ...tool } = described(name, description, schema, handler, options);
  // The browser keeps only the hints that it knows.
  if (tool.annotations?.destructiveHint) tool.annotations.consequentialHint = true;
  const execute = async (/** @type {any} */ input, /** @type {any} */ more) => {
    const context = { signal: more?.signal, progress() {} };
    const { result, error } = await outcome(handler, input, context);
    // The browser drops the message of an exception.
    return result ?? { ...asResult(error), isError: true };
  };
  const known = natives.get(name);
  if (isRepeated(tool, known?.tool)) return;
  known?.end.abort();
  const end = new AbortController();
  natives.set(name, { tool, end });
  const ended = AbortSignal.any([end.signal, signal ?? end.signal]);
  on(ended, "abort", () => natives.get(name)?.end === end && natives.delete(name));
  try {
    await native.registerTool({ ...tool, execute }, { signal: ended });
  } catch (error) {
    end.abort();
    throw error;
  }
}

/** Only the browser's own WebMCP counts: a polyfill in the page would keep the tools to itself. */
function nativeContext() {
  const context = /** @type {any} */ (document).modelContext;
  return /\[native code\]/.test(context?.registerTool) && context;
}
