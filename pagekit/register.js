/** One call for a site: its tools go to the browser where that knows WebMCP, else to the worker. */

import { WorkerClient } from "./client.js";
import { described } from "./tools.js";

/** @type {WorkerClient | undefined} */
let shared;

/** @type {import("./pagekit.d.ts").registerTool} */
export async function registerTool(name, description, schema, handler, options = {}) {
  const { signal, via, client } = options;
  const native = !via && nativeContext();
  if (!native) {
    const worker = client ?? (shared ??= new WorkerClient());
    return worker.registerTool(name, description, schema, handler, options);
  }
  const { outputSchema: _, ...told } = described(name, description, schema, handler, options);
  const execute = (/** @type {any} */ input, /** @type {any} */ more) =>
    handler(input, { signal: more?.signal, progress() {} });
  await native.registerTool({ ...told, execute }, { signal });
}

/** A page's own imitation would keep the tools from us, so only the browser's counts. */
function nativeContext() {
  const context = /** @type {any} */ (document).modelContext;
  return /\[native code\]/.test(context?.registerTool) && context;
}
