import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1 },
  storage: { session: { set: async () => {} } },
};
const { documentOf, isOn } = await import("../../../../extension/worker/debugger/page-document.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

/** Only this site is allowed beside the one that was decided. */
const reach = { among: async (places) => new Set(places.filter((one) => one === "c.example")) };

/**
 * @param {string} origin
 * @param {string | undefined} site
 * @param {string} [href]
 */
async function isAt(origin, site, href = `${origin}/page`) {
  globalThis.chrome.debugger = { sendCommand: async () => ({ result: { value: href } }) };
  return isOn(1, { uniqueId: "a", origin }, site, reach);
}

test("a document is on the site that it was loaded from", async () => {
  assert.ok(await isAt("https://a.example:8080", "a.example:8080"));
  assert.ok(await isAt("https://a.example.:8080", "a.example:8080"));
  assert.ok(await isAt("https://a.example.", "a.example"));
  assert.ok(await isAt("https://anywhere.example", undefined));
  assert.ok(!(await isAt("https://b.example", "a.example")));
  assert.ok(!(await isAt("https://a.example:8080", "a.example")));
  assert.ok(!(await isAt("http://b.example", "")));
  assert.ok(!(await isAt("http://b.example", "opaque")));
});

test("a sandboxed document belongs to the site in its address", async () => {
  assert.ok(await isAt("://", "a.example", "https://a.example/"));
  assert.ok(!(await isAt("://", "a.example", "https://b.example/")));
  assert.ok(!(await isAt("://", "opaque", "https://b.example/")));
  assert.ok(await isAt("://", "opaque", "data:text/html,"));
});

test("a blank document belongs to the page that opened it", async () => {
  assert.ok(await isAt("://", "", "about:blank"));
  assert.ok(await isAt("://", "a.example", "about:blank"));
  assert.ok(await isAt("https://c.example", "", "about:blank"));
  assert.ok(!(await isAt("https://b.example", "", "about:blank")));
  assert.ok(!(await isAt("https://b.example", "a.example", "about:blank")));
  assert.ok(await isAt("://", "a.example", "chrome-error://chromewebdata/"));
});

test("two commands that look for the document of a fresh page find the same", async () => {
  const context = { uniqueId: "u", origin: "https://a.example" };
  const auxData = { isDefault: true, frameId: "F" };
  const answers = {
    "Runtime.enable": () =>
      report("event", 2, undefined, "Runtime.executionContextCreated", {
        context: { ...context, auxData },
      }),
    "Page.getFrameTree": () => ({ frameTree: { frame: { id: "F" } } }),
  };
  globalThis.chrome.debugger = {
    sendCommand: async (_, method) => {
      await new Promise(setImmediate);
      return answers[method]?.() ?? {};
    },
  };
  const first = documentOf(2);
  await new Promise(setImmediate);
  assert.deepEqual(await Promise.all([first, documentOf(2)]), [context, context]);
});
