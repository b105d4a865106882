/** One call for a site: its tools go to the browser where that knows WebMCP, else to the worker. */

import { WorkerClient } from "./client.js";
import { described } from "./tools.js";

/** @type {WorkerClient | undefined} */
let shared;

/** @type {import("./pagekit.d.ts").registerTool} */
export async function registerTool(name, description, schema, handler, options = {}) {
  const native = options.via === "worker" ? undefined : nativeContext();
  if (native) return throughBrowser(native, name, description, schema, handler, options);
  const client = options.client ?? (shared ??= new WorkerClient());
  await client.registerTool(name, description, schema, handler, options);
  return () => client.unregisterTool(name);
}

/** A page's own imitation would keep the tools from us, so only the browser's counts. */
function nativeContext() {
  const context = /** @type {any} */ (document).modelContext;
  return /\[native code\]/.test(context?.registerTool) ? context : undefined;
}

/**
 * @param {any} context
 * @param {string} name
 * @param {string} description
 * @param {object | null | undefined} schema
 * @param {import("./pagekit.d.ts").Handler} handler
 * @param {import("./pagekit.d.ts").ToolOptions} options
 */
async function throughBrowser(context, name, description, schema, handler, options) {
  const { outputSchema: _, ...told } = described(name, description, schema, handler, options);
  const gone = new AbortController();
  const execute = (/** @type {any} */ input, /** @type {any} */ more) =>
    handler(input, { signal: more?.signal ?? gone.signal, progress() {} });
  await context.registerTool({ ...told, execute }, { signal: gone.signal });
  return async () => gone.abort();
}
