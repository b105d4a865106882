import assert from "node:assert/strict";
import { mock, test } from "node:test";

globalThis.tabhub = { define: (name, make) => (globalThis.tabhub[name] = make()) };
globalThis.chrome = { runtime: { getManifest: () => ({ version: "1" }) } };
await import("../../../../extension/content/page_tools/tool-rates.js");
await import("../../../../extension/content/page_tools/tool-limits.js");
await import("../../../../extension/content/page_tools/page-access.js");
await import("../../../../extension/content/shared/correlator.js");
await import("../../../../extension/content/page_tools/mcp-client.js");

globalThis.tabhub.pageAccess.set({ isAllowed: true });

function started(answers = {}) {
  const sent = [];
  const client = globalThis.tabhub.mcpClient.make("mcp-b", (message) => {
    sent.push(message);
    const result = answers[message.method]?.(message.params);
    if (result !== undefined) {
      queueMicrotask(() => client.receive({ jsonrpc: "2.0", id: message.id, result }));
    }
  });
  client.receive("mcp-server-ready");
  return { client, sent };
}

const GREETING = { initialize: () => ({ capabilities: { tools: { listChanged: true } } }) };
const how = (more = {}) => ({ signal: new AbortController().signal, progress: () => {}, ...more });

test("the client initializes the server once and joins its pages of tools", async () => {
  const pages = {
    first: { tools: [{ name: "a" }], nextCursor: "x" },
    x: { tools: [{ name: "b" }] },
  };
  const answers = { ...GREETING, "tools/list": ({ cursor = "first" }) => pages[cursor] };
  const { client, sent } = started(answers);
  assert.deepEqual(await client.list(), [{ name: "a" }, { name: "b" }]);
  await client.list();
  const [{ params }, ...others] = sent.filter(({ method }) => method === "initialize");
  assert.deepEqual(others, []);
  const browser = { multiTabSupport: true, cacheSupported: true, elicitation: false };
  assert.deepEqual(params.capabilities, { browser });
  assert.equal(client.polls(), false);
});

test("a page that may not publish gets neither questions nor answers", async () => {
  const { pageAccess } = globalThis.tabhub;
  const { client, sent } = started(GREETING);
  pageAccess.set({ isAllowed: false });
  client.receive({ jsonrpc: "2.0", id: 7, method: "ping" });
  await assert.rejects(client.list());
  assert.deepEqual(sent, []);
  pageAccess.set({ isAllowed: true });
  client.receive({ jsonrpc: "2.0", id: 7, method: "ping" });
  assert.deepEqual(sent, [{ jsonrpc: "2.0", id: 7, result: {} }]);
});

test("the client stops reading an endless list of pages", async () => {
  const answers = { ...GREETING, "tools/list": () => ({ tools: [], nextCursor: "again" }) };
  const { client, sent } = started(answers);
  await client.list();
  assert.ok(sent.length < 60);
});

test("the client queries a server with endless pages ever more slowly", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const answers = { ...GREETING, "tools/list": () => ({ tools: [], nextCursor: "again" }) };
  const { client, sent } = started(answers);
  await client.list();
  const before = sent.length;
  void client.list();
  for (let i = 0; i < 200; i++) await null;
  assert.ok(sent.length - before < 6, `${sent.length - before}`);
  mock.timers.reset();
});

test("the client accepts only responses to its own ids", async () => {
  const { client, sent } = started();
  const calling = client.call("a", {}, how());
  for (const id of [0, 1, "1", null, undefined, {}])
    client.receive({ id, result: { forged: true } });
  const { id } = sent.at(-1);
  assert.match(id, /^[0-9a-z]+(-[0-9a-z]+){3}$/);
  client.receive({ jsonrpc: "2.0", id, result: { content: [] } });
  assert.deepEqual(await calling, { content: [] });
});

test("a cancelled call is cancelled in the page, and progress is reported at a limited rate", async () => {
  const controller = new AbortController();
  const amounts = [];
  const { client, sent } = started();
  const options = {
    signal: controller.signal,
    progress: (report) => amounts.push(report.progress),
  };
  const calling = client.call("a", {}, { ...options, extensions: { token: 1 } });
  const { id, params } = sent.at(-1);
  assert.deepEqual(params._meta, { token: 1, progressToken: id });
  for (const progress of [1, 2, 3]) {
    client.receive({ method: "notifications/progress", params: { progressToken: id, progress } });
  }
  client.receive({ method: "notifications/progress", params: { progressToken: "x", progress: 9 } });
  controller.abort(new Error("cancelled"));
  await assert.rejects(calling, /cancelled/);
  assert.deepEqual(amounts, [1]);
  assert.deepEqual(sent.at(-1).params, { requestId: id });
});

test("a request to a server that never answers times out", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { client } = started();
  const listing = assert.rejects(client.list(), /no answer/);
  mock.timers.tick(10_000);
  await listing;
  mock.timers.reset();
});

test("a server that stops ends its calls, and invalid messages are ignored", async () => {
  const { client } = started();
  const calling = assert.rejects(client.call("a", {}, how()), /stopped/);
  for (const payload of [null, 1, "x", [], {}, { method: 5 }, { id: {} }]) client.receive(payload);
  assert.ok(client.isThere());
  client.receive("mcp-server-stopped");
  await calling;
  assert.ok(!client.isThere());
});

test("the client answers a ping of the server and refuses other requests", () => {
  const { client, sent } = started();
  client.receive({ jsonrpc: "2.0", id: 7, method: "elicitation/create", params: {} });
  client.receive({ jsonrpc: "2.0", id: 8, method: "ping" });
  const [refused, pong] = sent.slice(-2);
  assert.deepEqual([refused.id, refused.error.code], [7, -32601]);
  assert.deepEqual([pong.id, pong.result], [8, {}]);
});
