/** pagekit as a plain `<script>`: the build puts these exports into the global `tabhub`. */

import { script } from "./script.js";
import { serveIfWorker } from "./worker.js";

export { WorkerClient } from "./client.js";
export { MCPController } from "./controller.js";
export { registerTool } from "./register.js";

// A worker has no document.
const element = /** @type {any} */ (globalThis.document?.currentScript);
script.url = element?.src;
script.type = "classic";
serveIfWorker();
