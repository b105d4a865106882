import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

let now = 1_000_000;
Date.now = () => now;
mock.timers.enable({ apis: ["setTimeout"] });

/** @type {{method: string, params: any}[]} */
const sent = [];
let lookMs = 0;
let elements = 3;
const ERROR = { reason: "frame_silent", message: "It does not answer." };
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

function connect(tabId, frameId = 0, answers = true) {
  const documentId = `d${frameId}`;
  const sender = { tab: { id: tabId, url: "https://shop.example/" }, frameId, documentId };
  const port = { name: "frame", sender, onDisconnect: { addListener: () => {} } };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  const answer = ({ id }) => queueMicrotask(() => port.say({ id, value: elements }));
  port.postMessage = answers
    ? answer
    : ({ id }) => queueMicrotask(() => port.say({ id, error: ERROR }));
  frameConnected(port);
  port.say({ type: "hello" });
}

let tabId = 0;
beforeEach(async () => {
  tabId += 1;
  lookMs = 0;
  elements = 3;
  ANSWERS["Performance.getMetrics"] = { metrics: [{ name: "JSEventListeners", value: 10 }] };
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

test("a frame that does not answer keeps no other from being asked", async () => {
  connect(tabId, 7, false);
  assert.equal(await looks(5), 1);
});

test("a page with too many elements or listeners is not asked, and that is said", async () => {
  elements = null;
  assert.equal(await looks(5), 0);
  assert.equal((await learnListeners(framesOf(tabId)[0])).isTooMuch, true);
  elements = 3;
  now += 2000;
  assert.equal(await looks(5), 1);
  now += 2000;
  ANSWERS["Performance.getMetrics"].metrics[0].value = 1_000_000;
  assert.equal(await looks(5), 0);
  assert.equal((await learnListeners(framesOf(tabId)[0])).isTooMuch, true);
});

test("tens of thousands of listeners of one element are grouped in one pass", async () => {
  const one = { type: "click", backendNodeId: 5, scriptId: "1", lineNumber: 1, columnNumber: 1 };
  const listeners = Array.from({ length: 90_000 }, () => one);
  let concatenated = 0;
  const { concat } = Array.prototype;
  Array.prototype.concat = function (...more) {
    concatenated += this.length;
    return concat.apply(this, more);
  };
  ANSWERS["DOMDebugger.getEventListeners"] = { listeners };
  await looks(5);
  Array.prototype.concat = concat;
  ANSWERS["DOMDebugger.getEventListeners"] = { listeners: [] };
  assert.ok(concatenated < listeners.length, `${concatenated} copied`);
});
