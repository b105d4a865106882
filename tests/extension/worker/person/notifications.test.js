import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

let created, opened;
globalThis.chrome = {
  runtime: { getURL: (path) => `chrome-extension://ours/${path}` },
  notifications: { create: async (id, options) => void created.push({ id, ...options }) },
  tabs: { create: async ({ url }) => void opened.push(url) },
};
const { openNotice, showNotice } =
  await import("../../../../extension/worker/person/notifications.js");

beforeEach(() => {
  created = [];
  opened = [];
});

const input = { agent: "Helper", title: "Done", message: "All\u202e is done" };

test("a notice names its agent and shows hidden characters", async () => {
  await showNotice({ input: { ...input, contextMessage: "from tabhub" } });
  const [{ id, title, message, contextMessage, iconUrl }] = created;
  assert.equal(title, "Done");
  assert.equal(message, "All[U+202E] is done");
  assert.equal(contextMessage, "from Helper · from tabhub");
  assert.match(iconUrl, /^chrome-extension:/);
  assert.equal(openNotice(id), true);
  assert.deepEqual(opened, []);
});

test("a click opens the address, also after a worker restart", async () => {
  await showNotice({ input: { ...input, url: "https://example.com/a b" } });
  assert.equal(openNotice(created[0].id), true);
  assert.deepEqual(opened, ["https://example.com/a b"]);
});

test("clicks on other notifications are ignored", () => {
  assert.equal(openNotice("approval:1"), false);
  assert.deepEqual(opened, []);
});

test("a notice takes only inline pictures, and opens no page of an extension", async () => {
  const picture = "data:image/png;base64,AAAA";
  await showNotice({ input: { ...input, iconUrl: picture } });
  assert.equal(created[0].iconUrl, picture);
  const bad = [
    { iconUrl: "https://example.com/x.png" },
    { url: "chrome-extension://ours/panel/panel.html" },
    { url: `https://example.com/${"x".repeat(500)}` },
  ];
  for (const more of bad) {
    const showing = showNotice({ input: { ...input, ...more } });
    await assert.rejects(showing, { reason: "invalid_arguments" });
  }
  assert.equal(created.length, 1);
});
