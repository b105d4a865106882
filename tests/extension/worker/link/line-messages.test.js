import assert from "node:assert/strict";
import { test } from "node:test";

import * as rpc from "../../../../extension/worker/link/line.js";

test("a request, a notification and a response are distinguished", () => {
  const base = { jsonrpc: "2.0" };
  const kind = (message) => rpc.parseMessage(JSON.stringify({ ...base, ...message }))?.kind;
  assert.equal(kind({ id: 1, method: "tool.dispatch", params: {} }), "request");
  assert.equal(kind({ method: "pong" }), "notification");
  assert.equal(kind({ id: "a", result: {} }), "response");
});

test("a response has its result or its error", () => {
  const parsed = (more) => rpc.parseMessage(JSON.stringify({ jsonrpc: "2.0", id: 1, ...more }));
  assert.equal(parsed({ result: 5 }).result, 5);
  assert.equal(parsed({ error: { message: "No." } }).error.message, "No.");
});

test("an invalid message is ignored and throws nothing", () => {
  const junk = ["", "{", "null", "[]", "1", '{"jsonrpc":"1.0","method":"x"}', '{"jsonrpc":"2.0"}'];
  for (const text of [...junk, undefined, new ArrayBuffer(2)])
    assert.equal(rpc.parseMessage(text), null);
  assert.equal(rpc.parseMessage('{"jsonrpc":"2.0","id":{},"method":"x"}'), null);
});

test("params that are no object become an empty object", () => {
  assert.deepEqual(rpc.parseMessage('{"jsonrpc":"2.0","method":"x","params":[1]}')?.params, {});
});

test("a call without an id is a notification on the wire", () => {
  assert.equal(rpc.encodeCall("ping", {}), '{"jsonrpc":"2.0","method":"ping","params":{}}');
});

test("half a surrogate pair is sent as a replacement character, other text unchanged", () => {
  const encoded = (text) => JSON.parse(rpc.encodeResult(1, { text })).result.text;
  assert.equal(encoded("a\ud83db"), "a\ufffdb");
  assert.equal(encoded("\udc00"), "\ufffd");
  for (const whole of ["😀", "\\ud83d", "\\\\ud83d\n\u0001", "\ud83d\ude00\\"]) {
    assert.equal(encoded(`${whole}\ud800`), `${whole}\ufffd`);
    assert.equal(encoded(whole), whole);
  }
  assert.ok(rpc.encodeError(1, { message: "\ud83d" }).isWellFormed());
  assert.ok(!rpc.encodeCall("x", { key: "\ud83d" }).includes("\\ud83d"));
});
