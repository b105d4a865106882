/**
 * pagekit: a page offers its tools to the agents of the person who has it open, by a tabhub server
 * on the same machine. This file is the ES module; loaded as a worker, it is the worker.
 */

import { home } from "./script.js";
import { serveIfWorker } from "./worker.js";

export { WorkerClient } from "./client.js";
export { MCPController } from "./controller.js";
export { registerTool } from "./register.js";

home.url = import.meta.url;
serveIfWorker();
