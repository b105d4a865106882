import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { mock, test } from "node:test";
import { runInThisContext } from "node:vm";

const define = (name, make) => (globalThis.tabhub[name] = make());
const scripts = await Promise.all(
  ["tool-rates", "tool-limits", "page-access", "tool-list"].map((name) =>
    readFile(
      new URL(`../../../../extension/content/page_tools/${name}.js`, import.meta.url),
      "utf8",
    ),
  ),
);

class Source {
  kind = "mcp-b";
  exists = true;
  tools = [];
  listed = 0;
  needsPolling = false;
  isThere = () => this.exists;
  polls = () => this.needsPolling;
  capabilities = () => ({ cacheSupported: true, elicitation: "yes" });
  extensions = () => undefined;
  onChange = (listener) => (this.changed = listener);
  list = async () => {
    this.listed++;
    return this.tools;
  };
  call = async (name) => ({ content: [], from: this.kind, name });
}

class Page extends EventTarget {
  readyState = "loading";
  scripts = [1];
  isSecureContext = true;
}

const tool = (name) => ({ name, description: "d", inputSchema: {} });

function started({ isAllowed = true } = {}) {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.window = new Page();
  globalThis.document = new Page();
  globalThis.location = { href: "https://a.example/now" };
  const fail = (reason, message) => {
    throw Object.assign(new Error(message), { reason });
  };
  const sources = [new Source(), new Source(), new Source(), new Source()];
  const [nativeTools, mcpSource, framedSource, bridgedSource] = sources;
  nativeTools.kind = "native";
  for (const source of sources.slice(1)) source.exists = false;
  bridgedSource.name = "tabhub-1";
  globalThis.tabhub = { define, fail, nativeTools, mcpSource, framedSource, bridgedSource };
  for (const script of scripts) runInThisContext(script);
  globalThis.document.readyState = "interactive";
  const messages = [];
  const { pageAccess, toolList } = globalThis.tabhub;
  toolList.connected((message) => messages.push(message));
  pageAccess.set({ isAllowed });
  return { messages, sources, toolList, pageAccess };
}

/** Advance the time, and finish the work that it starts. */
async function pass(ms) {
  mock.timers.tick(ms);
  for (let i = 0; i < 20; i++) await null;
}

test("a page without tools has no timers and sends nothing", async () => {
  const { messages, sources } = started();
  await pass(600_000);
  assert.deepEqual(messages, []);
  assert.equal(sources[0].listed, 0);
});

test("only changes are reported, and simultaneous ones together", async () => {
  const { messages, sources } = started();
  sources[0].tools = [tool("a")];
  sources[0].changed();
  await pass(50);
  assert.equal(messages.length, 1);
  assert.deepEqual(messages[0].capabilities, { cacheSupported: true });
  for (let i = 0; i < 100; i++) sources[0].changed();
  await pass(500);
  assert.equal(messages.length, 1);
  sources[0].tools = [];
  for (let i = 0; i < 100; i++) sources[0].changed();
  await pass(499);
  assert.equal(messages.length, 1);
  await pass(1);
  assert.deepEqual(messages[1].tools, []);
  assert.equal(sources[0].listed, 3);
});

test("a source without change events is polled every minute, others are not", async () => {
  const { messages, sources } = started();
  const [native, server] = sources;
  Object.assign(server, { exists: true, needsPolling: true, tools: [tool("a")] });
  server.changed();
  await pass(50);
  server.tools = [tool("a"), tool("b")];
  await pass(59_999);
  assert.equal(server.listed, 1);
  await pass(1);
  assert.equal(server.listed, 2);
  assert.equal(messages.at(-1).tools.length, 2);
  server.needsPolling = false;
  await pass(60_000);
  await pass(600_000);
  assert.equal(server.listed, 3);
  assert.equal(native.listed, 3);
});

test("of two tools with one name, the one of the more trusted source counts", async () => {
  const { messages, sources, toolList } = started();
  const [native, server] = sources;
  server.exists = true;
  native.tools = [tool("a")];
  server.tools = [{ ...tool("a"), title: "other" }, tool("b")];
  native.changed();
  await pass(50);
  assert.deepEqual(messages[0].tools, [tool("a"), tool("b")]);
  assert.equal(messages[0].kind, "native");
  const call = (toolName) => toolList.call({ callId: "c", toolName, args: {} });
  assert.equal((await call("a")).payload.from, "native");
  assert.equal((await call("b")).payload.from, "mcp-b");
  await assert.rejects(call("c"), { reason: "no_tab_for_tool" });
});

test("a call ends at its limit or when it is stopped, whatever the page does", async () => {
  const { sources, toolList } = started();
  sources[0].tools = [tool("a")];
  sources[0].call = () => new Promise(() => {});
  sources[0].changed();
  await pass(50);
  const ended = (callId) => toolList.call({ callId, toolName: "a", args: {} });
  const late = assert.rejects(ended("1"), { reason: "timeout" });
  await pass(0);
  await pass(300_000);
  await late;
  const stopped = assert.rejects(ended("2"), { reason: "cancelled" });
  await pass(0);
  toolList.stop({ callId: "2" });
  await stopped;
});

test("the list is reported again to a new worker", async () => {
  const { sources, toolList } = started();
  sources[0].tools = [tool("a")];
  sources[0].changed();
  await pass(50);
  const messages = [];
  toolList.connected((message) => messages.push(message));
  assert.equal(messages[0].tools.length, 1);
});

test("the page's own world is inspected only if no other source exists", async () => {
  const { messages, sources } = started();
  sources[0].exists = false;
  globalThis.window.dispatchEvent(new Event("load"));
  assert.deepEqual(messages, [{ type: "bridge", name: "tabhub-1" }]);
  await pass(5000);
  assert.equal(messages.length, 2);
  sources[3].exists = true;
  globalThis.document.dispatchEvent(new Event("visibilitychange"));
  await pass(600_000);
  assert.equal(messages.length, 2);
});

test("forged events do not start an inspection of the page's world, and inspections are limited", async () => {
  const { messages, sources, toolList } = started();
  sources[0].exists = false;
  for (let i = 0; i < 100; i++) globalThis.document.dispatchEvent(new Event("visibilitychange"));
  assert.deepEqual(messages, []);
  for (let i = 0; i < 100; i++) toolList.used();
  assert.equal(messages.length, 3);
});

test("a source that does not answer keeps its tools, and is queried again", async () => {
  const { messages, sources } = started();
  const [source] = sources;
  source.tools = [tool("a")];
  source.changed();
  await pass(50);
  const list = source.list;
  source.list = async () => {
    throw new Error("no answer");
  };
  source.changed();
  await pass(5000);
  assert.equal(messages.length, 1);
  source.list = list;
  source.tools = [tool("b")];
  await pass(10_000);
  assert.deepEqual(
    messages.at(-1).tools.map(({ name }) => name),
    ["b"],
  );
});

test("a source without change events is polled every minute, also without tools", async () => {
  const { messages, sources } = started();
  sources[0].needsPolling = true;
  sources[0].changed();
  await pass(1000);
  sources[0].tools = [tool("late")];
  await pass(60_000);
  assert.deepEqual([messages.length, messages[0]?.url], [1, "https://a.example/now"]);
});

test("tools registered while a page is read are reported afterwards, once", async () => {
  const { messages, sources } = started();
  globalThis.document.readyState = "loading";
  sources[0].tools = [tool("a")];
  sources[0].changed();
  await pass(1000);
  assert.deepEqual(messages, []);
  sources[0].tools = [tool("a"), tool("b")];
  sources[0].changed();
  globalThis.document.dispatchEvent(new Event("DOMContentLoaded"));
  await pass(1);
  assert.deepEqual([messages.length, messages[0]?.tools.length], [1, 2]);
});

test("the first list of a hidden page waits for no timer", async () => {
  const { messages, sources } = started();
  globalThis.document.hidden = true;
  sources[0].tools = [tool("a")];
  sources[0].changed();
  for (let turns = 0; !messages.length && turns < 1000; turns++) await new Promise(setImmediate);
  assert.equal(messages.length, 1);
});

test("a page that may not publish is not asked, and reports everything once it may", async () => {
  const { messages, sources, toolList, pageAccess } = started({ isAllowed: false });
  sources[0].tools = [tool("a")];
  sources[0].changed();
  toolList.used();
  globalThis.window.dispatchEvent(new Event("load"));
  globalThis.document.readyState = "complete";
  await pass(600_000);
  assert.deepEqual([messages, sources[0].listed], [[], 0]);
  await assert.rejects(toolList.call({ callId: "1", toolName: "a", args: {} }), {
    reason: "no_tab_for_tool",
  });
  pageAccess.set({ isAllowed: true });
  await pass(1000);
  assert.equal(messages[0].tools[0].name, "a");
});

test("tools are reported again when a page may publish again, and polling ends while not", async () => {
  const { messages, sources, pageAccess } = started();
  sources[0].tools = [tool("a")];
  sources[0].needsPolling = true;
  sources[0].changed();
  await pass(1000);
  pageAccess.set({ isAllowed: false });
  await pass(600_000);
  assert.deepEqual([messages.length, sources[0].listed], [1, 1]);
  pageAccess.set({ isAllowed: true });
  await pass(5000);
  assert.deepEqual(messages[1], messages[0]);
});

test("what was announced while a page was forbidden for a moment is not lost", async () => {
  const { messages, sources, pageAccess } = started();
  sources[0].tools = [tool("a")];
  sources[0].changed();
  pageAccess.set({ isAllowed: false });
  await pass(600_000);
  assert.equal(messages.length, 0);
  pageAccess.set({ isAllowed: true });
  await pass(5000);
  assert.equal(messages.length, 1);
});

test("a list that comes while the page is forbidden is reported when it is allowed", async () => {
  const { messages, sources, pageAccess } = started();
  let answer;
  sources[0].list = () => new Promise((resolve) => (answer = () => resolve([tool("a")])));
  sources[0].changed();
  await pass(50);
  pageAccess.set({ isAllowed: false });
  answer();
  await pass(10);
  assert.equal(messages.length, 0);
  pageAccess.set({ isAllowed: true });
  await pass(5000);
  answer();
  await pass(10);
  assert.equal(messages.length, 1);
});

test("a server that has no tools yet is polled again after its page was forbidden", async () => {
  const { messages, sources, pageAccess } = started();
  sources[0].needsPolling = true;
  sources[0].changed();
  await pass(1000);
  pageAccess.set({ isAllowed: false });
  await pass(1000);
  pageAccess.set({ isAllowed: true });
  await pass(5000);
  sources[0].tools = [tool("a")];
  await pass(60_000);
  assert.equal(messages.length, 1);
});
