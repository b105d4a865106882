import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1 },
  storage: { session: { set: async () => {} } },
};
const { isOn } = await import("../../../../extension/worker/debugger/page-document.js");

/**
 * @param {string} href
 * @param {string} [origin]
 */
const at = (href, origin = new URL(href).origin) => ({ uniqueContextId: "", href, origin });

test("a document is on the site that it was loaded from", () => {
  assert.ok(isOn(at("https://a.example:8080/"), "a.example:8080"));
  assert.ok(isOn(at("https://a.example.:8080/"), "a.example:8080"));
  assert.ok(isOn(at("https://a.example./"), "a.example"));
  assert.ok(isOn(at("https://anywhere.example/"), undefined));
  assert.ok(!isOn(at("https://b.example/"), "a.example"));
  assert.ok(!isOn(at("https://a.example:8080/"), "a.example"));
  assert.ok(!isOn(at("http://b.example/"), ""));
  assert.ok(!isOn(at("http://b.example/"), "opaque"));
});

test("a sandboxed document belongs to the site in its address", () => {
  assert.ok(isOn(at("https://a.example/", "://"), "a.example"));
  assert.ok(!isOn(at("https://b.example/", "://"), "a.example"));
});

test("a blank document belongs to the page that opened it", () => {
  assert.ok(isOn(at("about:blank", "://"), ""));
  assert.ok(isOn(at("about:blank", "://"), "a.example"));
  assert.ok(isOn(at("about:blank", "https://a.example"), ""));
  assert.ok(isOn(at("about:blank", "https://a.example"), "a.example"));
  assert.ok(!isOn(at("about:blank", "https://b.example"), "a.example"));
  assert.ok(isOn(at("chrome-error://chromewebdata/", "://"), "a.example"));
});
