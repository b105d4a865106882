/** The same for a `<script>` without modules: everything is in the global `tabhub`. */

import { home } from "./script.js";
import { serveIfWorker } from "./worker.js";

export { WorkerClient } from "./client.js";
export { MCPController } from "./controller.js";
export { registerTool } from "./register.js";

// As a worker it has no document.
const script = /** @type {any} */ (globalThis.document?.currentScript);
home.url = script?.src;
home.type = "classic";
serveIfWorker();
