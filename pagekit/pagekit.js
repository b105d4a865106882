/**
 * pagekit lets a page offer tools to the agents of the person who has it open, through a tabhub
 * server on the same machine. This file is the ES module, and also the script of the worker.
 */

import { script } from "./script.js";
import { serveIfWorker } from "./worker.js";

export { WorkerClient } from "./client.js";
export { MCPController } from "./controller.js";
export { registerTool } from "./register.js";

script.url = import.meta.url;
serveIfWorker();
