import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { bridge } from "../../../../extension/worker/page_tools/polyfill-bridge.js";

const NAME = "tabhub-1";
let ids = 0;
const strays = [];
process.on("unhandledRejection", (error) => strays.push(error));
afterEach(() => assert.deepEqual(strays, []));

/** A page with this polyfill; `ask` sends a request as the content script does. */
function page(modelContext) {
  globalThis.window = globalThis;
  const document = Object.assign(new EventTarget(), { modelContext });
  globalThis.document = document;
  const messages = [];
  document.addEventListener(`${NAME}-out`, ({ detail }) => messages.push(JSON.parse(detail)));
  bridge(NAME, 5, 1000);
  const send = (detail) => document.dispatchEvent(new CustomEvent(`${NAME}-in`, { detail }));
  const ask = async (method, params) => {
    const id = `${++ids}`;
    send(JSON.stringify({ id, method, params }));
    for (let i = 0; i < 20; i++) await null;
    return messages.find((message) => message.id === id);
  };
  return { ask, send, messages };
}

const tool = (name, more = {}) => ({ name, description: name, ...more });
const polyfill = (tools, executeTool = async () => "done") => ({
  getTools: async () => tools,
  executeTool,
});
const names = ({ result }) => result.tools.map(({ name }) => name);

test("a tool that cannot be read does not affect the others", async () => {
  const hostile = [
    new Proxy({}, { get: () => assert.fail("get") }),
    Object.defineProperty(tool("getter"), "annotations", { get: () => assert.fail("getter") }),
    tool("json", { inputSchema: { toJSON: () => assert.fail("toJSON") } }),
    tool("schema", { inputSchema: "{no JSON" }),
  ];
  const { ask } = page(polyfill([...hostile, tool("good")]));
  assert.deepEqual(
    (await ask("tools/list")).result.tools.filter((each) => each.name),
    [tool("good")],
  );
  const done = await ask("tools/call", { name: "good", arguments: {} });
  assert.deepEqual(done.result, { text: "done" });
});

test("an endless list is read up to the limit", async () => {
  const endless = {
    *[Symbol.iterator]() {
      for (;;) yield tool("a");
    },
  };
  assert.equal(names(await page(polyfill(endless)).ask("tools/list")).length, 6);
});

test("tools that are too large together are left out", async () => {
  const tools = ["a", "b", "c"].map((name) => tool(name, { title: "x".repeat(300) }));
  assert.deepEqual(names(await page(polyfill(tools)).ask("tools/list")), [
    "a",
    undefined,
    undefined,
  ]);
});

test("serialization stops at twice the limit of a message", async () => {
  let reads = 0;
  const large = {
    get inputSchema() {
      reads++;
      return { title: "x".repeat(1500) };
    },
  };
  await page(polyfill([large, large, large, large, large])).ask("tools/list");
  assert.equal(reads, 2);
});

test("every return value of a tool becomes a text, or is too large", async () => {
  const results = [
    ["x", { text: "x" }],
    [{ a: 1 }, { text: '{"a":1}' }],
    [undefined, { text: null }],
  ];
  results.push(["x".repeat(2000), { size: 2000 }]);
  results.push([{ then: (done) => done("late") }, { text: "late" }]);
  for (const [value, expected] of results) {
    const { ask } = page(polyfill([tool("a")], () => value));
    assert.deepEqual((await ask("tools/call", { name: "a", arguments: {} })).result, expected);
  }
});

test("every thrown value is reported in a short message", async () => {
  const thrown = [
    null,
    "text",
    {
      get message() {
        throw 1;
      },
    },
    new Error("x".repeat(50_000)),
    1n,
  ];
  for (const error of thrown) {
    const { ask } = page(
      polyfill([tool("a")], () => {
        throw error;
      }),
    );
    const { message } = (await ask("tools/call", { name: "a", arguments: {} })).error;
    assert.ok(message.length <= 2000);
  }
  const { ask } = page(polyfill([tool("a")], () => ({ self: 1n })));
  assert.match((await ask("tools/call", { name: "a", arguments: {} })).error.message, /BigInt/);
});

test("invalid messages and a second bridge are ignored", async () => {
  const { ask, send, messages } = page(polyfill([tool("a")]));
  for (const detail of ["", "{", "null", "5", "[]", undefined, {}]) send(detail);
  bridge(NAME, 5, 1000);
  assert.deepEqual(messages, ["mcp-server-ready"]);
  assert.deepEqual(names(await ask("tools/list")), ["a"]);
});
