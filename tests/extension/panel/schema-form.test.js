import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldsOf, kindOf, valueOf } from "../../../extension/panel/forms/schema-form.js";

test("a field fits the type of its argument, and JSON is entered for everything else", () => {
  assert.equal(kindOf({ type: "string" }), "text");
  assert.equal(kindOf({ type: ["integer", "null"] }), "number");
  assert.equal(kindOf({ anyOf: [{ type: "boolean" }, { type: "null" }] }), "boolean");
  assert.equal(kindOf({ enum: ["a", 1] }), "choice");
  for (const schema of [
    { type: "array" },
    { anyOf: [{ type: "string" }, { type: "number" }] },
    {},
    null,
  ]) {
    assert.equal(kindOf(schema), "json");
  }
});

test("what was left empty is not sent", () => {
  assert.equal(valueOf("x", "text", " "), undefined);
  assert.equal(valueOf("x", "choice", ""), undefined);
  assert.equal(valueOf("x", "text", " a "), " a ");
  assert.equal(valueOf("x", "number", "1.5"), 1.5);
  assert.equal(valueOf("x", "boolean", "false"), false);
  assert.deepEqual(valueOf("x", "json", "[1]"), [1]);
  assert.throws(() => valueOf("words", "json", "{"), /^Error: words must be JSON/);
});

const named = (one, found = []) => {
  if (one.attributes.name) found.push([one.tag, one.attributes.name]);
  one.children.forEach((child) => named(child, found));
  return found;
};

test("a form has one control for each argument, and survives a strange schema", () => {
  const schema = {
    required: ["code"],
    properties: {
      code: { type: "string" },
      loud: { type: "boolean" },
      elements: { type: "array" },
      times: { type: "integer" },
    },
  };
  assert.deepEqual(
    fieldsOf(schema).flatMap((field) => named(field)),
    [
      ["textarea", "code"],
      ["select", "loud"],
      ["textarea", "elements"],
      ["input", "times"],
    ],
  );
  for (const strange of [undefined, null, {}, { properties: 7 }, { properties: { a: null } }]) {
    assert.doesNotThrow(() => fieldsOf(strange));
  }
});
