import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let now = 1_000_000;
Date.now = () => now;
mock.timers.enable({ apis: ["setTimeout"] });

/** @type {{method: string, params: any}[]} */
const sent = [];
let lookMs = 0;
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
      sent.push({ method, params });
      if (method === "DOMDebugger.getEventListeners") now += lookMs;
      return ANSWERS[method] ?? {};
    },
  },
};
const ANSWERS = {
  "Runtime.evaluate": { result: { objectId: "root" } },
  "DOMDebugger.getEventListeners": { listeners: [] },
  "Page.getFrameTree": { frameTree: { frame: { id: "main" } } },
  "Page.createIsolatedWorld": { executionContextId: 1 },
};
const { attachTab } = await import("../../../../extension/worker/debugger/debugger.js");
const { frameConnected, framesOf } = await import("../../../../extension/worker/frames/frames.js");
const { learnListeners } = await import("../../../../extension/worker/reading/page-listeners.js");

function connect(tabId) {
  const sender = { tab: { id: tabId, url: "https://shop.example/" }, frameId: 0, documentId: "d" };
  const port = { name: "frame", sender, onDisconnect: { addListener: () => {} } };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.postMessage = ({ id }) => queueMicrotask(() => port.say({ id, value: 3 }));
  frameConnected(port);
  port.say({ type: "hello" });
}

let tabId = 0;
beforeEach(async () => {
  tabId += 1;
  lookMs = 0;
  await attachTab(tabId);
  connect(tabId);
});

async function looks(ms) {
  lookMs = ms;
  sent.length = 0;
  await learnListeners(framesOf(tabId)[0]);
  return sent.filter(({ method }) => method === "DOMDebugger.getEventListeners").length;
}

test("the handlers of listeners are not made objects, and the root is let go", async () => {
  assert.equal(await looks(5), 1);
  const root = sent.find(({ params }) => params?.expression === "document");
  assert.equal(root.params.objectGroup, undefined);
  const released = sent.filter(({ method }) => method === "Runtime.releaseObject");
  assert.deepEqual(
    released.map(({ params }) => params.objectId),
    ["root"],
  );
});

test("a page whose listeners are listed fast is asked again after a second", async () => {
  assert.equal(await looks(5), 1);
  now += 900;
  assert.equal(await looks(5), 0);
  now += 200;
  assert.equal(await looks(5), 1);
});

test("a page that is busy listing its listeners is asked seldom", async () => {
  assert.equal(await looks(400), 1);
  now += 5000;
  assert.equal(await looks(400), 0);
  now += 3000;
  assert.equal(await looks(400), 1);
});
