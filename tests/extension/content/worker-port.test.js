import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { runInThisContext } from "node:vm";

/** Every part that the port uses and these tests do not. */
const unused = new Proxy(() => {}, { get: () => unused, apply: () => undefined });

async function run(name) {
  const file = new URL(`../../../extension/content/${name}.js`, import.meta.url);
  runInThisContext(await readFile(file, "utf8"));
}

const answers = [];
const parts = { define: (name, make) => (parts[name] = make()) };
globalThis.tabhub = new Proxy(parts, { get: (known, name) => known[name] ?? unused });
globalThis.window = new EventTarget();
globalThis.document = new EventTarget();
const listeners = [];
globalThis.chrome = {
  runtime: {
    connect: () => ({
      onMessage: { addListener: (listener) => listeners.push(listener) },
      onDisconnect: { addListener() {} },
      postMessage: (message) => answers.push(message),
    }),
  },
};
parts.refs = { adopt: () => {}, range: () => undefined };
await run("page_tools/page-access");
await run("worker-port");
const [receive] = listeners;

async function said(type, body) {
  answers.length = 0;
  receive({ id: 1, type, body, until: Date.now() - 1 });
  await new Promise((resolve) => setImmediate(resolve));
}

test("a busy page carries out no action whose call has ended", async () => {
  await said("viewport", {});
  assert.deepEqual(answers, []);
});

test("a busy page still learns that it may publish, and that it may not", async () => {
  for (const isAllowed of [true, false]) {
    await said("mayPublish", { isAllowed });
    assert.equal(parts.pageAccess.isAllowed(), isAllowed);
    assert.equal(answers.length, 1);
  }
});

test("a document has numbers for refs also after an order that it does not do", async () => {
  const range = { slot: 0, next: 7 };
  let own;
  parts.refs.adopt = (given) => (own ??= given);
  parts.refs.range = () => own;
  answers.length = 0;
  const until = Date.now() + 1000;
  receive([
    { id: 1, type: "fill", body: { promptly: 0, isCaught: true }, until },
    { id: 2, type: "settle", body: { range }, until },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(answers, [
    { id: 1, value: { notDone: "yet" } },
    { id: 2, value: { value: null, next: 7 } },
  ]);
});
