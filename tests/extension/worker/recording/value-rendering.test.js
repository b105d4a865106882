import assert from "node:assert/strict";
import { test } from "node:test";

import { renderArguments } from "../../../../extension/worker/recording/value-rendering.js";

const text = (value) => ({ type: "string", value });
const number = (value) => ({ type: "number", value, description: String(value) });
const preview = (description, properties, more = {}) => ({
  type: "object",
  preview: { type: "object", description, properties, overflow: false, ...more },
});

for (const [name, args, expected] of [
  ["words and numbers", [text("a"), number(1), { type: "boolean", value: false }], "a 1 false"],
  [
    "null and undefined",
    [{ type: "object", subtype: "null" }, { type: "undefined" }],
    "null undefined",
  ],
  ["what JSON cannot hold", [{ type: "bigint", unserializableValue: "5n" }], "5n"],
  [
    "directives",
    [text("%s is %d%% %cred"), text("it"), number(5), text("color: red"), text("!")],
    "it is 5% red !",
  ],
  ["directives without an argument", [text("100%d")], "100%d"],
  [
    "an error by its stack",
    [{ type: "object", subtype: "error", description: "Error: x\n  at y" }],
    "Error: x\n  at y",
  ],
  ["an object without a view", [{ type: "object", description: "Window" }], "Window"],
  [
    "an object",
    [
      preview("Object", [
        { name: "a", type: "number", value: "1" },
        { name: "b", type: "string", value: "x" },
      ]),
    ],
    '{a: 1, b: "x"}',
  ],
  [
    "a long array of a class",
    [
      preview("Array(9)", [{ name: "0", type: "number", value: "1" }], {
        subtype: "array",
        overflow: true,
      }),
    ],
    "[1, …]",
  ],
  [
    "a map",
    [
      preview("Map(1)", [], {
        entries: [
          {
            key: { description: "k", type: "string", subtype: "node" },
            value: { description: "v", subtype: "node" },
          },
        ],
      }),
    ],
    "Map(1) {k => v}",
  ],
  ["nothing", [], ""],
]) {
  test(`${name} is shown as in a console`, () => assert.equal(renderArguments(args), expected));
}
