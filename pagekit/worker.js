/** The library as a worker: one controller for every tab of the origin. */

import { hold } from "./locks.js";
import { MCPController } from "./controller.js";
import { on } from "./events.js";

const STAY_MS = 120_000;

export function serveIfWorker() {
  const isShared = "onconnect" in globalThis;
  if (!isShared && !("onactivate" in globalThis)) return;
  const controller = hold().then(({ name }) => new MCPController(name));
  // The events themselves must be listened for at once.
  on(globalThis, isShared ? "connect" : "message", (event) => {
    for (const port of event.ports) void controller.then((ready) => ready.addPort(port));
    event.waitUntil?.(new Promise((resolve) => setTimeout(resolve, STAY_MS)));
  });
}
