/** One call for a site: its tools go to the browser where that knows WebMCP, else to the worker. */

import { WorkerClient } from "./client.js";
import { asResult } from "./results.js";
import { described, outcome } from "./tools.js";

/** @type {WorkerClient | undefined} */
let shared;

/** @type {import("./pagekit.d.ts").registerTool} */
export async function registerTool(name, description, schema, handler, options = {}) {
  const { signal, via, client } = options;
  const native = !via && nativeContext();
  if (!native) {
    const worker = client ?? (shared ??= new WorkerClient(options));
    return worker.registerTool(name, description, schema, handler, options);
  }
  const { outputSchema: _, ...told } = described(name, description, schema, handler, options);
  // The browser keeps only the hints that it knows.
  if (told.annotations?.destructiveHint) told.annotations.consequentialHint = true;
  const execute = async (/** @type {any} */ input, /** @type {any} */ more) => {
    const context = { signal: more?.signal, progress() {} };
    const { result, error } = await outcome(handler, input, context);
    // What is thrown it keeps to itself.
    return result ?? { ...asResult(error), isError: true };
  };
  await native.registerTool({ ...told, execute }, { signal });
}

/** A page's own imitation would keep the tools from us, so only the browser's counts. */
function nativeContext() {
  const context = /** @type {any} */ (document).modelContext;
  return /\[native code\]/.test(context?.registerTool) && context;
}
