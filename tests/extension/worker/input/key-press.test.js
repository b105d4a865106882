import assert from "node:assert/strict";
import { test } from "node:test";

import { piecesOf } from "../../../../extension/worker/input/key-press.js";

const shown = (pieces) =>
  pieces.map((piece) => (typeof piece === "string" ? [piece] : piece.key.key));

test("what the keyboard has is typed by keys, the rest is inserted", () => {
  assert.deepEqual(shown(piecesOf("aB é世!", true)), ["a", "B", " ", ["é世"], "!"]);
});

test("every kind of line end is the Enter key", () => {
  assert.deepEqual(shown(piecesOf("a\r\nb\n\rc", true)), [
    "a",
    "Enter",
    "b",
    "Enter",
    "Enter",
    "c",
  ]);
});

test("a letter and its accents are inserted together", () => {
  assert.deepEqual(shown(piecesOf("👩‍👧", true)), [["👩‍👧"]]);
});

test("a long text is inserted line by line", () => {
  const line = "words ".repeat(60);
  assert.deepEqual(shown(piecesOf(`${line}\n${line}`, true)), [[line], "Enter", [line]]);
});

test("what takes no text gets keys only, and not too many", () => {
  assert.deepEqual(shown(piecesOf("Fr", false)), ["F", "r"]);
  assert.throws(() => piecesOf("ß", false), { reason: "invalid_arguments" });
  assert.throws(() => piecesOf("x".repeat(301), false), { reason: "invalid_arguments" });
});
