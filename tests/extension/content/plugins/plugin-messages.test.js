import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, test } from "node:test";
import { runInThisContext } from "node:vm";

const FILE = new URL("../../../../extension/content/plugins/plugin-messages.js", import.meta.url);
const ORDER = { plugin: "notes", config: {}, readyMs: 30 };

const { MessageChannel } = globalThis;
let channels;
afterEach(() => channels.forEach(({ port1 }) => port1.close()));

let plugins;
beforeEach(async () => {
  channels = [];
  globalThis.MessageChannel = class extends MessageChannel {
    constructor() {
      super();
      channels.push(this);
    }
  };
  globalThis.window = new EventTarget();
  globalThis.document = new EventTarget();
  globalThis.tabhub = {
    define: (_, make) => (plugins = make()),
    rateLimit: { make: () => ({ take: () => true }) },
    toolLimits: { isRecord: (value) => typeof value === "object" && value !== null },
  };
  runInThisContext(await readFile(FILE, "utf8"));
});

/** What is answered to a call when the page says this after the number of the call. */
async function answerTo(...texts) {
  document.addEventListener("c-run", (event) => {
    event.preventDefault();
    const { number } = JSON.parse(event.detail);
    for (const text of texts) {
      const detail = text.replace("NUMBER", String(number));
      queueMicrotask(() => document.dispatchEvent(new CustomEvent("c-ran", { detail })));
    }
  });
  return plugins.run({ channel: "c", order: ORDER });
}

const DONE = '{"number":NUMBER,"answer":{"state":"done"}}\n';

test("the result of a call follows its answer, as JSON", async () => {
  assert.deepEqual(await answerTo(`${DONE}["a"]`), { state: "done", text: '["a"]' });
});

test("an answer that is too long ends its call at once", async () => {
  assert.deepEqual(await answerTo(DONE + "x".repeat(20_000_000)), { state: "oversized" });
});

test("what is no answer ends no call", async () => {
  const other = DONE.replace("NUMBER", "77");
  const odd = ["", "x", "{}\n", "x\n", "null\n", `${other}1`, `${"x".repeat(200_000)}\n`];
  assert.deepEqual(await answerTo(...odd, `${DONE}2`), { state: "done", text: "2" });
});

test("a page in which nobody listens has no adapter", async () => {
  assert.deepEqual(await plugins.run({ channel: "c", order: ORDER }), { state: "not_injected" });
});
