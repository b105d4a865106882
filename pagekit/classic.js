/** The same for a `<script>` without modules: everything is in the global `tabhub`. */

import { setHome } from "./home.js";
import { serveIfWorker } from "./worker.js";

export { WorkerClient } from "./client.js";
export { MCPController } from "./controller.js";
export { registerTool } from "./register.js";

if (typeof document === "object") {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  setHome(script?.src, "classic");
}
serveIfWorker();
