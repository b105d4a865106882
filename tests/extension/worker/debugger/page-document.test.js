import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1 },
  storage: { session: { set: async () => {} } },
};
const { isOn, isShowing } = await import("../../../../extension/worker/debugger/page-document.js");

/**
 * @param {string} origin
 * @param {string | undefined} site
 */
async function isAt(origin, site) {
  globalThis.chrome.debugger = {
    sendCommand: async () => ({ result: { value: `${origin}/page` } }),
  };
  return isOn(1, { uniqueId: "a", origin }, site);
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

test("a sandboxed document belongs to the site in its address", () => {
  assert.ok(isShowing("://", "https://a.example/", "a.example"));
  assert.ok(!isShowing("://", "https://b.example/", "a.example"));
});

test("a blank document belongs to the page that opened it", () => {
  assert.ok(isShowing("://", "about:blank", ""));
  assert.ok(isShowing("://", "about:blank", "a.example"));
  assert.ok(isShowing("https://a.example", "about:blank", ""));
  assert.ok(!isShowing("https://b.example", "about:blank", "a.example"));
  assert.ok(isShowing("://", "chrome-error://chromewebdata/", "a.example"));
});
