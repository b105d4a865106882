import assert from "node:assert/strict";
import { mock, test } from "node:test";

const parents = new Map([[7, 0]]);
const webNavigation = {
  getFrame: async ({ frameId }) =>
    parents.has(frameId) ? { parentFrameId: parents.get(frameId) } : null,
};
const session = { get: async () => ({}), set: async () => {} };
globalThis.chrome = { runtime: {}, storage: { session }, webNavigation };
const { frameConnected } = await import("../../../../extension/worker/frames/frames.js");
const { keepPageTools } =
  await import("../../../../extension/worker/page_tools/page-tool-registry.js");

const notified = [];
keepPageTools({
  notify: (method, params) => void notified.push({ method, ...params }),
  reportTabChanges: async () => {},
  note: () => {},
});

/** A content script that has said hello, and answers what `answers` has. */
function connected(frameId, origin, answers = {}) {
  const port = { name: "frame", posted: [] };
  port.sender = { tab: { id: 1 }, frameId, origin, url: `${origin}/`, documentId: `d${frameId}` };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: (listener) => (port.close = listener) };
  port.disconnect = () => {};
  port.postMessage = ({ id, type }) => {
    if (type in answers) queueMicrotask(() => port.say({ id, value: answers[type]() }));
  };
  frameConnected(port);
  port.say({ type: "hello" });
  return port;
}

function publish(port) {
  port.say({ type: "tools", tools: [{ name: "a" }], kind: "mcp-b", capabilities: {} });
}

async function registered(seconds) {
  for (let i = 0; i < seconds; i++) {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    mock.timers.tick(1000);
  }
  const found = notified.splice(0).filter(({ method }) => method === "browser/registerTools");
  return found.map(({ embedding }) => embedding);
}

test("a frame whose page connects late is no foreign one", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const child = connected(7, "https://a.example");
  publish(child);
  assert.deepEqual(await registered(12), []);
  const page = connected(0, "https://a.example");
  assert.deepEqual(await registered(12), ["own"]);
  child.close();
  page.close();
  mock.timers.reset();
});

test("a frame that the browser does not know yet is no foreign one", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const page = connected(0, "https://a.example");
  const child = connected(8, "https://a.example");
  publish(child);
  assert.deepEqual(await registered(3), []);
  parents.set(8, 0);
  assert.deepEqual(await registered(3), ["own"]);
  child.close();
  page.close();
  mock.timers.reset();
});

test("a page around a frame that is busy when it is asked is asked again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const answers = {};
  const page = connected(0, "https://a.example", answers);
  const child = connected(7, "https://b.example", { toolPolicy: () => null, index: () => 0 });
  publish(child);
  assert.deepEqual(await registered(12), []);
  answers.allowsTools = () => true;
  assert.deepEqual(await registered(40), ["allowed"]);
  child.close();
  page.close();
  mock.timers.reset();
});

test("a page around a frame that never answers makes it a foreign one", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const child = connected(7, "https://a.example");
  publish(child);
  assert.deepEqual(await registered(200), ["foreign"]);
  child.close();
  mock.timers.reset();
});
