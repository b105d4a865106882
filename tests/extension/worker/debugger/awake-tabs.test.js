import assert from "node:assert/strict";
import { test } from "node:test";

let frames = 0;
let hasDialog = false;
globalThis.chrome = {
  runtime: {},
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://shop.example/" }) },
  debugger: {
    attach: async () => {},
    detach: async () => {},
    getTargets: async () => [],
    sendCommand: async (_, method, params) => {
      if (!params?.expression?.includes("requestAnimationFrame")) return {};
      frames += 1;
      if (hasDialog) throw new Error("a dialog is open");
      return {};
    },
  },
};
const { attachTab } = await import("../../../../extension/worker/debugger/debugger.js");
const { waitUntilDrawn } = await import("../../../../extension/worker/debugger/awake-tabs.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const TAB = 7;
const LOADED = [TAB, { status: "complete" }, { id: TAB, url: "https://shop.example/" }];
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function framesOf(work) {
  frames = 0;
  await work();
  await settled();
  return frames;
}

function navigate() {
  report("committed", TAB, "https://shop.example/");
  report("updated", ...LOADED);
}

test("after input, the next page draws its first frame before more input comes", async () => {
  await attachTab(TAB);
  assert.equal(await framesOf(navigate), 0, "nobody has sent input");
  assert.equal(await framesOf(() => waitUntilDrawn(TAB)), 1);
  assert.equal(await framesOf(navigate), 1);
  assert.equal(await framesOf(() => waitUntilDrawn(TAB)), 0);
});

test("a first frame that was prevented is waited for again", async () => {
  hasDialog = true;
  assert.equal(await framesOf(navigate), 1);
  hasDialog = false;
  assert.equal(await framesOf(() => waitUntilDrawn(TAB)), 1);
});
