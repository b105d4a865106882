import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

globalThis.chrome = {
  runtime: { id: "ours", getManifest: () => ({}), getURL: (path) => path },
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://a.example/" }) },
  webNavigation: { getFrame: async () => null, getAllFrames: async () => [] },
  debugger: { attach: async () => {}, detach: async () => {} },
};
const { forgetTab } = await import("../../../../extension/worker/debugger/debugger.js");
const { frameConnected } = await import("../../../../extension/worker/frames/frames.js");
const { click } = await import("../../../../extension/worker/input/click.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const TAB = 6;
const MINTING = new Set(["changes", "settle"]);
const SETTLED = { arrived: true, mutated: true, navigating: false };
let asked, answers;

chrome.debugger.sendCommand = async (_, method, { type } = {}) => {
  if (type === "mousePressed") asked.push("press");
  if (method === "Runtime.evaluate") asked.push("fence");
  return {};
};

function openFrame() {
  const port = { name: "frame", disconnect() {} };
  port.sender = { frameId: 0, tab: { id: TAB }, url: "https://a.example/", documentId: "d" };
  port.sender.origin = "https://a.example";
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: (listener) => (port.close = listener) };
  port.postMessage = ({ id, type, body }) => {
    asked.push(type);
    const value = answers[type]?.(body);
    setImmediate(() => port.say({ id, value: MINTING.has(type) ? { value, next: 9 } : value }));
  };
  frameConnected(port);
  port.say({ type: "hello", range: { slot: 0, next: 0 } });
  return port;
}

const context = () => ({
  tabId: TAB,
  site: "a.example",
  input: { observe: 500, selector: "#go" },
  signal: new AbortController().signal,
  reach: { allows: () => true, require() {}, explore: async () => {} },
});

beforeEach(() => {
  asked = [];
  answers = {
    aim: () => ({ x: 5, y: 5 }),
    settle: () => ({ ...SETTLED, changes: { lines: "+status", whole: true } }),
  };
  report("committed", TAB, "https://a.example/");
});

test("the only document of a page is aimed in without being asked before", async () => {
  const main = openFrame();
  await click(context());
  asked = [];
  const { effect } = await click(context());
  assert.equal(effect.changes.lines, "+status");
  assert.deepEqual(asked, ["expectChanges", "aim", "press", "settle", "fence", "unwatch"]);
  main.close();
});

test("nothing is pressed where there is no such element", async () => {
  const main = openFrame();
  answers.aim = ({ isGuess }) => (isGuess ? null : { x: 5, y: 5 });
  answers.has = () => false;
  await assert.rejects(click(context()), { reason: "element_not_found" });
  assert.equal(asked.includes("press"), false);
  answers.has = () => true;
  assert.equal((await click(context())).effect.mutated, true);
  main.close();
  forgetTab(TAB);
});
