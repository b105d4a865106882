import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.tabhub = {
  define: (name, make) => (globalThis.tabhub[name] = make()),
  fail: (reason, message) => {
    throw Object.assign(new Error(message), { reason });
  },
};
await import("../../../../extension/content/page_tools/tool-rates.js");
await import("../../../../extension/content/page_tools/tool-limits.js");
const { rateLimit, toolLimits, sizeLimit, toolRate } = globalThis.tabhub;

const tool = (name, more = {}) => ({ name, description: "d", inputSchema: {}, ...more });

function deep(levels) {
  let value = {};
  for (let i = 0; i < levels; i++) value = { inner: value };
  return value;
}

test("a tool is reported with its own fields, without empty ones", () => {
  const { texts } = toolLimits.list([tool("a", { title: "", origin: "x", execute: () => 1 })]);
  assert.deepEqual(JSON.parse(texts.get("a")), tool("a"));
});

test("tools above the limits are left out and counted, the rest is reported", () => {
  const many = Array.from({ length: 2500 }, (_, i) => tool(`t${i}`));
  assert.deepEqual(toolLimits.list(many).leftOut, { many: 500, large: 0, invalid: 0 });
  const odd = [
    null,
    3,
    {},
    { name: 1 },
    tool("x".repeat(501)),
    tool("deep", { inputSchema: deep(101) }),
  ];
  const large = tool("large", { description: "x".repeat(1_000_001) });
  const { texts, leftOut } = toolLimits.list([...odd, large, tool("good")]);
  assert.deepEqual([...texts.keys()], ["good"]);
  assert.deepEqual(leftOut, { many: 0, large: 1, invalid: 6 });
});

test("all tools together fit into one message", () => {
  const items = Array.from({ length: 10 }, (_, i) => tool(`t${i}`, { title: "x".repeat(900_000) }));
  const { texts, leftOut } = toolLimits.list(items);
  assert.equal(texts.size, 4);
  assert.equal(leftOut.large, 6);
});

test("a tool that refers to itself is left out", () => {
  const inputSchema = {};
  inputSchema.self = inputSchema;
  assert.equal(toolLimits.list([tool("a", { inputSchema })]).leftOut.invalid, 1);
});

test("a result of WebMCP becomes one of MCP", () => {
  const texts = (text) => [{ type: "text", text }];
  assert.deepEqual(toolLimits.fromText("hello"), { content: texts("hello") });
  assert.deepEqual(toolLimits.fromText(null), { content: texts("") });
  const object = { content: texts('{"a":1}'), structuredContent: { a: 1 } };
  assert.deepEqual(toolLimits.fromText('{"a":1}'), object);
  const whole = { content: texts("x"), isError: true };
  assert.deepEqual(toolLimits.fromText(JSON.stringify(whole)), whole);
});

test("an invalid or too large result is refused with a reason", () => {
  const reason = (value) => {
    try {
      toolLimits.result(value);
    } catch (error) {
      return error.reason;
    }
  };
  for (const value of [null, 5, "x", [], deep(101)])
    assert.equal(reason(value), "invalid_response");
  assert.equal(reason({ text: "x".repeat(9_000_001) }), "too_large");
  assert.equal(reason({ content: [] }), undefined);
});

test("extensions of a page are limited in size and cannot use our prefix", () => {
  assert.deepEqual(toolLimits.extensions({ a: 1, "tabhub/leftOut": 2 }), { a: 1 });
  const nothing = [null, [], "x", {}, deep(101), { a: "x".repeat(20_001) }, { "tabhub/x": 1 }];
  for (const value of nothing) assert.equal(toolLimits.extensions(value), undefined);
});

/** A value that is small in memory, but 2^levels arrays as JSON. */
function shared(levels) {
  let value = ["x"];
  for (let i = 0; i < levels; i++) value = [value, value];
  return value;
}

test("a value that would be huge as JSON is measured and not serialized", () => {
  const fault = (value) => sizeLimit.write(value, 1_000_000).fault;
  assert.equal(fault(shared(90)), "large");
  assert.equal(fault({ holes: new Array(2 ** 32 - 1) }), "large");
  assert.equal(fault({ text: "x".repeat(1_000_001) }), "large");
  assert.equal(fault({ text: "\u0000".repeat(200_000) }), "large");
  const wide = Object.fromEntries(Array.from({ length: 600_000 }, (_, i) => [i, 1]));
  assert.equal(sizeLimit.write(wide, 9_000_000).fault, "large");
  for (const odd of [1n, new Map(), new Uint8Array(3), new Date(), deep(101), () => 1, Symbol()]) {
    assert.equal(fault({ odd }), "invalid");
  }
  const fine = { a: [1, null, true, undefined, "b", { c: shared(3) }], __proto__: null };
  assert.deepEqual(sizeLimit.write(fine, 1000), { fault: "", text: JSON.stringify(fine) });
});

test("a tool that cannot be serialized does not affect the others", () => {
  const bad = [shared(90), 1n, new Array(2 ** 32 - 1)];
  const items = bad.map((value, i) => tool(`bad${i}`, { annotations: { value } }));
  const { texts, leftOut } = toolLimits.list([...items, tool("good")]);
  assert.deepEqual([...texts.keys()], ["good"]);
  assert.deepEqual(leftOut, { many: 0, large: 2, invalid: 1 });
});

test("the rate limit allows a burst, then a number per second, and excess counts against later calls", () => {
  let now = 0;
  const two = rateLimit.make(2, 1, () => now);
  assert.deepEqual([two.take(), two.take(), two.take()], [true, true, false]);
  now += 1000;
  assert.deepEqual([two.take(), two.take()], [true, false]);
  two.spend(3);
  assert.equal(two.wait(), 4000);
  now += 60_000;
  assert.deepEqual([two.take(), two.take(), two.take()], [true, true, false]);
});

test("a source that announces changes without any is queried less often", () => {
  const rate = toolRate.make(() => 0);
  for (let i = 0; i < 18; i++) rate.inVain();
  assert.equal(rate.wait(), 50);
  for (let i = 0; i < 4; i++) rate.inVain();
  assert.equal(rate.wait(), 6000);
});

test("changes are reported at once, then within half a second, and a flood ever later", () => {
  let now = 0;
  const rate = toolRate.make(() => now);
  assert.equal(rate.wait(), 50);
  for (let i = 0; i < 9; i++) rate.reported(100);
  assert.equal(rate.wait(), 500);
  for (let i = 0; i < 3; i++) rate.reported(100);
  assert.ok(rate.wait() > 5000);
  now += 60_000;
  assert.equal(rate.wait(), 500);
  rate.reported(4_000_000);
  assert.ok(rate.wait() > 30_000);
});
