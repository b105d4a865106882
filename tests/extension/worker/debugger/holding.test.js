import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  runtime: { getManifest: () => ({ content_scripts: [{ js: [] }] }), getURL: String },
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://shop.example/" }) },
  debugger: {
    attach: async () => {},
    detach: async () => {},
    getTargets: async () => [],
    sendCommand: async (_, method) => {
      if (method === "CSS.startRuleUsageTracking") throw new Error("refused");
      return {};
    },
  },
};
const { cssCoverage } = await import("../../../../extension/worker/recording/css-coverage.js");
const { forgetTab, heldTabs } = await import("../../../../extension/worker/debugger/debugger.js");
const { startIntercepting } =
  await import("../../../../extension/worker/emulation/interception.js");

const TAB = 7;
const context = (more) => ({
  tabId: TAB,
  input: { urlPatterns: ["*"] },
  signal: new AbortController().signal,
  reach: { among: async () => null, allows: () => true },
  ...more,
});

for (const [name, command, more] of [
  ["interception on another site", startIntercepting, { site: "elsewhere.example" }],
  ["coverage that cannot begin", cssCoverage, {}],
]) {
  test(`${name} does not keep the debugger on the tab`, async () => {
    await assert.rejects(command(context(more)));
    assert.deepEqual(heldTabs(), []);
    forgetTab(TAB);
  });
}
