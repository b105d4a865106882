import assert from "node:assert/strict";
import { test } from "node:test";
import { asResult } from "../../pagekit/results.js";
import { described, inFull, Tools } from "../../pagekit/tools.js";

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
  const ended = { signal: AbortSignal.abort() };
  assert.throws(() => described("a", "x", null, handler, ended), { name: "AbortError" });
  assert.deepEqual(described("a", "x", null, handler), {
    name: "a",
    description: "x",
    inputSchema: { type: "object", properties: {} },
  });
});

test("the same tool again is ignored with a warning, and another one replaces it", (t) => {
  const warn = t.mock.method(console, "warn", () => {});
  const tools = new Tools();
  const first = () => 1;
  assert.equal(tools.add({ name: "a" }, first), true);
  assert.equal(
    tools.add({ name: "a" }, () => 2),
    false,
  );
  assert.equal(tools.get("a")?.handler, first);
  assert.deepEqual(warn.mock.calls[0].arguments, ["There is a tool a already."]);
  const changed = /** @type {any} */ ({ name: "a", description: "Other." });
  assert.equal(
    tools.add(changed, () => 3),
    true,
  );
  assert.deepEqual([tools.get("a")?.tool, tools.size], [changed, 1]);
  assert.equal(warn.mock.callCount(), 1);
});

test("the short form has a name and a handler", () => {
  const handler = () => 1;
  const options = { title: "User" };
  assert.deepEqual(inFull(["fetch_user", handler, options]), [
    "fetch_user",
    "fetch user",
    null,
    handler,
    options,
  ]);
  const full = ["a", "Does a.", null, handler, options];
  assert.equal(inFull(full), full);
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
