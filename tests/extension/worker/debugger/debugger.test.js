import assert from "node:assert/strict";
import { test } from "node:test";

/** @type {string[]} */
const done = [];
globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://shop.example/" }) },
  debugger: {
    attach: async () => void done.push("attach"),
    detach: async () => void done.push("detach"),
    getTargets: async () => [],
    sendCommand: async (_, method) => {
      if (method === "Page.enable") throw new Error("Page.enable is refused");
    },
  },
};
const { isTaken, withTab } = await import("../../../../extension/worker/debugger/debugger.js");

test("the debugger detaches from a tab that cannot be prepared", async () => {
  await assert.rejects(withTab(7, async () => {}));
  await new Promise((rested) => setTimeout(rested, 5));
  assert.equal(isTaken(7), false);
  assert.deepEqual(done, ["attach", "detach"]);
});
