import assert from "node:assert/strict";
import { test } from "node:test";
import { asResult } from "../../pagekit/results.js";
import { described, Tools } from "../../pagekit/tools.js";

test("every return value of a handler becomes a result", () => {
  const whole = { content: [], isError: true };
  assert.equal(asResult(whole), whole);
  assert.deepEqual(asResult("hello"), { content: [{ type: "text", text: "hello" }] });
  assert.deepEqual(asResult({ a: 1 }), {
    content: [{ type: "text", text: '{"a":1}' }],
    structuredContent: { a: 1 },
  });
  assert.deepEqual(asResult([1]).content, [{ type: "text", text: "[1]" }]);
  assert.deepEqual(asResult(undefined).content, [{ type: "text", text: "done" }]);
});

test("an invalid tool is refused with an exception at its registration", () => {
  const handler = () => 1;
  assert.throws(() => described("no blanks", "x", null, handler), {
    name: "TypeError",
    message: "The tool no blanks needs a name of 1 to 128 A-Z a-z 0-9 _ . / -.",
  });
  assert.throws(() => described("a".repeat(129), "x", null, handler), /1 to 128/);
  assert.equal(described("shop/cart.v-2_A", "x", null, handler).name, "shop/cart.v-2_A");
  assert.throws(() => described("a", "", null, handler), /no description/);
  assert.throws(() => described("a", "x", null, undefined), /no handler/);
  assert.throws(() => described("a", "x", { n: 1n }, handler), TypeError);
  assert.deepEqual(described("a", "x", null, handler), {
    name: "a",
    description: "x",
    inputSchema: { type: "object", properties: {} },
  });
});

test("the names of a page's tools are unique", () => {
  const tools = new Tools();
  tools.add({ name: "a" }, () => 1);
  assert.throws(() => tools.add({ name: "a" }, () => 2), /already/);
});

test("a handler that throws, and a removed one, are reported as failures", async () => {
  const tools = new Tools();
  tools.add({ name: "bad" }, () => {
    throw new Error("out of tea");
  });
  /** @type {any[]} */
  const sent = [];
  await tools.run({ toolName: "bad", args: {}, callId: 1 }, (_, message) => sent.push(message));
  await tools.run({ toolName: "gone", args: {}, callId: 2 }, (_, message) => sent.push(message));
  assert.deepEqual(
    sent.map(({ success, error }) => [success, error]),
    [
      [false, "out of tea"],
      [false, "The tool was removed."],
    ],
  );
});
