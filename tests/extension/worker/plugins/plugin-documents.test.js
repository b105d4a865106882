import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { frameConnected } from "../../../../extension/worker/frames/frames.js";
import { PluginCalls } from "../../../../extension/worker/plugins/plugin-calls.js";
import {
  NotInjected,
  PluginDocuments,
} from "../../../../extension/worker/plugins/plugin-documents.js";

const PLUGIN = {
  name: "notes",
  adapter: "0".repeat(64),
  urlPatterns: ["https://mine.example/app/*"],
  excludePatterns: [],
  source: { hasFiles: true, ask: async () => {}, refusal: () => null },
};

const HOW = { signal: new AbortController().signal, progress: () => {} };

let shown;
let scripts;
beforeEach(() => {
  scripts = [];
  globalThis.chrome = {
    runtime: { getURL: (path) => `chrome-extension://a/${path}` },
    storage: { session: { set: async () => {} } },
    webNavigation: { getFrame: async () => shown },
    scripting: {
      executeScript: async (script) => [{ result: scripts.push(script) }],
    },
  };
});

let lastTab = 0;

/** A tab whose document has connected. */
function connect(
  documentId,
  url,
  answer = (say, id) => queueMicrotask(() => say({ id, value: null })),
) {
  const tabId = ++lastTab;
  const port = {
    name: "frame",
    sender: { tab: { id: tabId }, frameId: 0, documentId, url },
  };
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: () => {} };
  port.postMessage = ({ id }) => answer(port.say, id);
  frameConnected(port);
  port.say({ type: "hello" });
  return tabId;
}

function inject(tabId) {
  const documents = new PluginDocuments(() => true);
  return documents.withAdapter(tabId, PLUGIN, { secret: 1 }, false);
}

const LOADING = (error) => error instanceof NotInjected && error.message === "The page is loading.";

test("a document at another address gets nothing of the plugin", async () => {
  const url = "https://other.example/app/";
  const tabId = connect("d", url);
  shown = { documentId: "d", url };
  await assert.rejects(inject(tabId), LOADING);
  assert.deepEqual(scripts, []);
});

test("a document that the tab shows no longer gets nothing of the plugin", async () => {
  const url = "https://mine.example/app/";
  const tabId = connect("d", url);
  for (shown of [{ documentId: "e", url }, null]) await assert.rejects(inject(tabId), LOADING);
  assert.deepEqual(scripts, []);
});

test("a document that has got its address after it was loaded is prepared", async () => {
  const tabId = connect("d", "https://mine.example/login");
  shown = { documentId: "d", url: "https://mine.example/app/notes" };
  await assert.rejects(inject(tabId), NotInjected);
  assert.deepEqual(scripts[0].target, { tabId, documentIds: ["d"] });
});

// Round trips to the page: what is sent while something is on its way costs no time of its own.

/** Lets the page answer after a while, and counts how often something was sent to it alone. */
function slowly() {
  const trips = { count: 0 };
  let onTheWay = 0;
  const send = async (answer) => {
    if (onTheWay++ === 0) trips.count += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    onTheWay -= 1;
    return answer;
  };
  return { trips, send };
}

test("the first call in a document takes three round trips, and the next one takes one", async () => {
  const bytes = new TextEncoder().encode("adapter");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const plugin = {
    ...PLUGIN,
    adapter: Buffer.from(digest).toString("hex"),
    settings: {},
    urls: {},
  };
  const url = "https://mine.example/app/";
  const { trips, send } = slowly();
  const tabId = connect(
    "d",
    url,
    (say, id) => void send().then(() => say({ id, value: { state: "done" } })),
  );
  shown = { documentId: "d", url };
  chrome.scripting.executeScript = () => send([{ result: true }]);
  globalThis.fetch = async () => new Response(bytes);
  const calls = new PluginCalls(new PluginDocuments(() => true));
  const call = (dispatchId) =>
    calls.run(plugin, tabId, url, { tool: "echo", input: {}, dispatchId }, HOW);
  assert.deepEqual(await call("1"), { state: "done" });
  assert.equal(trips.count, 3);
  assert.deepEqual(await call("2"), { state: "done" });
  assert.equal(trips.count, 4);
});
