import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = { storage: { session: { get: async () => ({}), set: async () => {} } } };
const { PageOrigins } = await import("../../../../extension/worker/page_tools/page-origins.js");

const allows = (patterns, origin) => {
  const origins = new PageOrigins(() => {});
  origins.set({}, patterns);
  return origins.allows({ sender: { origin } });
};

test("patterns of origins mean the same as on the server", () => {
  assert.ok(allows(["*"], "https://a.example"));
  assert.ok(allows(["https://*.example"], "https://a.b.example"));
  assert.ok(allows(["https://a.example/"], "https://a.example"));
  assert.ok(allows(["http://127.0.0.1:*"], "http://127.0.0.1:80"));
  assert.ok(!allows(["https://a.example"], "https://a.example.evil"));
  assert.ok(!allows(["https://a.example"], "https://axexample"));
  assert.ok(!allows(["https://a.example*"], "https://a.example@evil"));
  assert.ok(!allows(["*example"], "https://a.example"));
  assert.ok(allows(["https://*.a*:*"], "https://x.a.example:80"));
  assert.ok(!allows(["https://a*a.example"], "https://a.example"));
  assert.ok(!allows([], "https://a.example"));
  assert.ok(!allows(["*"], "null"));
});

test("an older server sends no list, and takes the tools of every page", () => {
  assert.ok(allows(undefined, "https://a.example"));
});

test("a page may publish if any server wants its tools, until that one is gone", () => {
  const origins = new PageOrigins(() => {});
  const [local, remote] = [{}, {}];
  const allows = (origin) => origins.allows({ sender: { origin } });
  origins.set(local, ["https://a.example"]);
  origins.set(remote, ["https://b.example"]);
  assert.ok(allows("https://a.example") && allows("https://b.example"));
  origins.forget(remote);
  assert.ok(allows("https://a.example") && !allows("https://b.example"));
  origins.forget(local);
  assert.ok(allows("https://a.example"));
});

test("no pattern of a server takes long", () => {
  const origin = `https://${"a".repeat(250)}`;
  assert.ok(!allows([`https://${"*a".repeat(100)}*b`], origin));
  assert.ok(allows([`https://${"*a".repeat(100)}*`], origin));
});
