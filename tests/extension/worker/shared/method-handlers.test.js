import assert from "node:assert/strict";
import { test } from "node:test";

import { handlersOf } from "../../../../extension/worker/shared/method-handlers.js";
import { RECEIVERS } from "../../../../extension/worker/shared/link-methods.js";

const methods = [...RECEIVERS].filter(([, row]) => row.startsWith("relay ")).map(([name]) => name);
const all = Object.fromEntries(methods.map((name) => [name, () => name]));

test("each handler is found by its method and kind of message", () => {
  const { request, notification } = handlersOf("relay", all);
  assert.deepEqual([...notification.keys()], methods);
  assert.equal(notification.get("state.changed")(), "state.changed");
  assert.equal(request.size, 0);
});

test("a method without a handler is an error", () => {
  const { "state.changed": _, ...others } = all;
  assert.throws(() => handlersOf("relay", others), /relay does not handle state.changed/);
});

test("a handler of an unknown method, or of another side's method, is an error", () => {
  for (const method of ["tab.dance", "tool.dispatch"]) {
    assert.throws(() => handlersOf("relay", { ...all, [method]: () => {} }), new RegExp(method));
  }
});
