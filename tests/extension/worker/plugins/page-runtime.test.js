import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";
import { runInThisContext } from "node:vm";

import { prepare, tearDown } from "../../../../extension/worker/plugins/page-runtime.js";

const FIXTURE = new URL("../../../plugins/fixtures/notes/dist/adapter.iife.js", import.meta.url);
const ADAPTER = readFileSync(FIXTURE, "utf8");
const SETUP = { plugin: "notes", config: { a: 1 }, logNonce: "l", readinessNonce: "r" };
const ORDER = { plugin: "notes", config: { a: 1 }, readyMs: 30 };
const CALL = { id: "7", input: {}, maxText: 1000 };
/** As the content script does it. */
function run(order) {
  const { promise, resolve } = Promise.withResolvers();
  const number = ++lastNumber;
  document.addEventListener(`${channel}-ran`, ({ detail }) => {
    const [head, text] = detail.split("\n");
    const ran = JSON.parse(head);
    if (ran.number === number) resolve(text ? { ...ran.answer, text } : ran.answer);
  });
  const detail = JSON.stringify({ ...order, number });
  const event = new CustomEvent(`${channel}-run`, { detail, cancelable: true });
  if (document.dispatchEvent(event)) resolve({ state: "not_injected" });
  return promise;
}
const call = (tool, input = {}, more = {}) =>
  run({ ...ORDER, call: { ...CALL, channel, tool, input, ...more } });

let lastNumber = 0;
/** A document of its own for each test. */
let channel;
let posted;
beforeEach(() => {
  channel = `tabhub-${++lastNumber}`;
  for (const name of ["__openTabs", "ready", "pluginEvents", "adapterRuns"]) {
    delete globalThis[name];
  }
  globalThis.window = globalThis;
  globalThis.document = new EventTarget();
  posted = [];
  globalThis.postMessage = (message) => posted.push(message);
});

function inject() {
  assert.equal(prepare({ ...SETUP, channel }), true);
  runInThisContext(ADAPTER);
}

test("an adapter finds nonces and settings, and its tools answer", async () => {
  inject();
  const answer = await call("echo", { text: "hi" });
  assert.equal(answer.state, "done");
  assert.deepEqual(JSON.parse(answer.text), { input: { text: "hi" }, config: { a: 1 } });
  assert.equal(globalThis.__openTabs._logNonce, "l");
  assert.equal(globalThis.__openTabs._readinessNonce, "r");
});

test("a second injection finds containers that are not locked, and what others keep", async () => {
  inject();
  globalThis.__openTabs.preScript = { notes: { token: "t" } };
  globalThis.__openTabs.tokenCache = { notes: "c" };
  inject();
  assert.equal(globalThis.adapterRuns, 2);
  assert.deepEqual(globalThis.pluginEvents, ["activated", "torn down", "activated"]);
  assert.deepEqual(JSON.parse((await call("whoami")).text), { token: "t" });
  assert.deepEqual(globalThis.__openTabs.tokenCache, { notes: "c" });
});

test("readiness has a reason", async () => {
  assert.equal((await run(ORDER)).state, "not_injected");
  inject();
  for (const [ready, state] of [
    [true, "ready"],
    [false, "not_ready"],
    ["yes", "not_ready"],
    ["never", "timed_out"],
    ["throw", "threw"],
  ]) {
    globalThis.ready = ready;
    assert.equal((await run(ORDER)).state, state);
    assert.equal((await call("echo")).state, state === "ready" ? "done" : state);
  }
  globalThis.__openTabs = { adapters: { notes: { isReady: () => true, tools: [] } } };
  assert.equal((await run(ORDER)).state, "not_frozen");
});

test("an adapter without isReady or with hostile parts is an answer, not a fault", async () => {
  prepare({ ...SETUP, channel });
  const hostile = new Proxy({}, { get: () => assert.fail("get") });
  for (const adapter of [{}, { isReady: 1 }, hostile, { isReady: () => Promise.reject(null) }]) {
    globalThis.__openTabs = { adapters: { notes: Object.freeze(adapter) } };
    const { state } = await call("echo");
    assert.ok(["threw", "not_frozen"].includes(state), state);
  }
  globalThis.__openTabs = {
    adapters: { notes: Object.freeze({ isReady: async () => true, tools: null }) },
  };
  assert.equal((await call("echo")).state, "no_tool");
});

test("results that are no data are told apart", async () => {
  inject();
  assert.equal((await call("odd", { what: "cycle" })).state, "unwritable");
  assert.equal((await call("odd", { what: "bigint" })).state, "unwritable");
  assert.equal((await call("odd", { what: "huge" })).state, "oversized");
  assert.deepEqual(await call("odd", { what: "undefined" }), { state: "done", text: "null" });
});

test("an error keeps its code, category and advice", async () => {
  inject();
  const { state, message, ...rest } = await call("fail", { category: "rate_limit" });
  assert.deepEqual([state, message], ["failed", "There is no such note."]);
  const expected = { code: "NO_NOTE", category: "rate_limit", retryable: true, retryAfterMs: 1500 };
  assert.deepEqual(rest, expected);
});

test("progress and logs leave the page", async () => {
  inject();
  const reports = [];
  document.addEventListener(channel, ({ detail }) => reports.push(JSON.parse(detail)));
  await call("count", { to: 2 });
  assert.deepEqual(reports, [
    { id: "7", progress: 1, total: 2, message: "note 1" },
    { id: "7", progress: 2, total: 2, message: "note 2" },
  ]);
  const [{ type, plugin, nonce, entries }] = posted;
  assert.deepEqual([type, plugin, nonce], ["opentabs:plugin-logs", "notes", "l"]);
  assert.deepEqual(
    entries.map(({ message }) => message),
    ["counted 1", "counted 2"],
  );
});

test("cancelling aborts the signal of the call, and of no other", async () => {
  inject();
  void call("hang");
  void call("hang", {}, { id: "8" });
  while (globalThis.pluginEvents.length < 3) await new Promise(setImmediate);
  document.dispatchEvent(new Event(`${channel}-7`));
  document.dispatchEvent(new Event(`${channel}-7`));
  assert.deepEqual(globalThis.pluginEvents, ["activated", "began", "began", "aborted"]);
});

test("teardown ends the adapter and leaves the others", () => {
  inject();
  const { adapters } = globalThis.__openTabs;
  globalThis.__openTabs = { adapters: { ...adapters, other: 1 } };
  assert.equal(tearDown("notes"), true);
  assert.deepEqual(globalThis.pluginEvents, ["activated", "torn down"]);
  assert.deepEqual(globalThis.__openTabs.adapters, { other: 1 });
  assert.equal(tearDown("notes"), true);
});

test("a page that owns the place first is noticed", () => {
  for (const descriptor of [
    { get: () => ({}), set: () => {}, configurable: true },
    { value: {}, writable: false, configurable: true },
    {
      get: () => {
        throw new Error("mine");
      },
      configurable: true,
    },
  ]) {
    Object.defineProperty(globalThis, "__openTabs", descriptor);
    assert.equal(prepare({ ...SETUP, channel }), false);
    delete globalThis.__openTabs;
  }
});
