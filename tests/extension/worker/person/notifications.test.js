import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

let shown, opened;
globalThis.chrome = {
  runtime: { getURL: (path) => `chrome-extension://ours/${path}` },
  notifications: { create: async (id, options) => void shown.push({ id, ...options }) },
  tabs: { create: async ({ url }) => void opened.push(url) },
};
const { openNotice, showNotice } =
  await import("../../../../extension/worker/person/notifications.js");

beforeEach(() => {
  shown = [];
  opened = [];
});

const input = { agent: "Helper", title: "Done", message: "All\u202e is done" };

test("a notice says who speaks, and hides nothing", async () => {
  await showNotice({ input: { ...input, contextMessage: "from tabhub" } });
  const [{ id, title, message, contextMessage, iconUrl }] = shown;
  assert.equal(title, "Done");
  assert.equal(message, "All[U+202E] is done");
  assert.equal(contextMessage, "from Helper · from tabhub");
  assert.match(iconUrl, /^chrome-extension:/);
  assert.equal(openNotice(id), true);
  assert.deepEqual(opened, []);
});

test("a click opens the address, also in another life of the worker", async () => {
  await showNotice({ input: { ...input, url: "https://example.com/a b" } });
  assert.equal(openNotice(shown[0].id), true);
  assert.deepEqual(opened, ["https://example.com/a b"]);
});

test("other notifications are none of its business", () => {
  assert.equal(openNotice("approval:1"), false);
  assert.deepEqual(opened, []);
});

test("pictures come with the notice, and pages of extensions are not opened", async () => {
  const picture = "data:image/png;base64,AAAA";
  await showNotice({ input: { ...input, iconUrl: picture } });
  assert.equal(shown[0].iconUrl, picture);
  const bad = [
    { iconUrl: "https://example.com/x.png" },
    { url: "chrome-extension://ours/panel/panel.html" },
    { url: `https://example.com/${"x".repeat(500)}` },
  ];
  for (const more of bad) {
    const showing = showNotice({ input: { ...input, ...more } });
    await assert.rejects(showing, { reason: "invalid_arguments" });
  }
  assert.equal(shown.length, 1);
});
