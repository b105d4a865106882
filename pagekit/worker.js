/** The library in a worker: one controller for all tabs of the origin. */

import { holdLock } from "./locks.js";
import { MCPController } from "./controller.js";
import { on } from "./events.js";

const KEEP_MS = 120_000;

export function serveIfWorker() {
  const isShared = "onconnect" in globalThis;
  if (!isShared && !("onactivate" in globalThis)) return;
  const controller = holdLock().then(({ name }) => new MCPController(name));
  // The browser drops events that come before there is a listener, so do not wait for the lock.
  on(globalThis, isShared ? "connect" : "message", (event) => {
    for (const port of event.ports) void controller.then((ready) => ready.addPort(port));
    event.waitUntil?.(new Promise((resolve) => setTimeout(resolve, KEEP_MS)));
  });
}
