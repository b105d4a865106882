import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { checker, misfit } from "../../../../extension/worker/link/input-schema.js";

const schema = JSON.parse(
  readFileSync(new URL("../../../../protocol/link.schema.json", import.meta.url), "utf8"),
);
const inputs = Object.fromEntries(
  Object.entries(schema.commands).map(([name, { input }]) => [name, input]),
);
const check = checker({ inputs, $defs: schema.$defs });

test("an input that matches its declaration passes", () => {
  check("tabs.list", {});
  check("page.click", { ref: "ref_1", clickCount: 2, modifiers: ["ctrl"] });
  check("page.drag", { from: { x: 1.5, y: 2 }, to: { selector: "#there" } });
  check("page.set", { ref: "ref_1", value: true });
  check("page.emulate", { set: { device: null, vision: "blurredVision" } });
  check("page.read", { ref: null, since: null });
  check("intercept.answer", { requestId: "req_1", how: "fail", errorReason: "Failed" });
});

const wrong = [
  ["tabs.open", {}, /url is missing/],
  ["tabs.list", { all: true }, /tabs\.list\.all is not known/],
  ["page.click", { ref: 1 }, /page\.click\.ref is no string/],
  ["page.click", { ref: "ref_1", clickCount: 4 }, /clickCount is 4/],
  ["page.click", { ref: "ref_1", clickCount: 1.5 }, /clickCount is no integer/],
  ["page.click", { ref: "ref_1", button: "side" }, /button is "side"/],
  ["page.click", { ref: "ref_1", modifiers: ["ctrl", 1] }, /modifiers\[1\] is no string/],
  ["page.drag", { from: { x: "1" }, to: {} }, /from\.x is no number/],
  ["page.set", { ref: "ref_1", value: [] }, /value/],
  ["intercept.answer", { requestId: "req_1", how: "fail" }, /nor/],
  ["page.emulate", { set: null }, /set is no object/],
];

for (const [command, input, message] of wrong) {
  test(`${command} does not take ${JSON.stringify(input)}`, () => {
    assert.throws(() => check(command, input), { reason: "internal", message });
  });
}

test("an undeclared command is not checked", () => {
  check("tabs.invent", { anything: 1 });
});

test("members with arbitrary names are checked by their type", () => {
  const headers = { type: "object", additionalProperties: { type: "string" } };
  assert.equal(misfit(headers, { a: "b" }, "headers", {}), undefined);
  assert.equal(misfit(headers, { a: 1 }, "headers", {}), "headers.a is no string");
});
