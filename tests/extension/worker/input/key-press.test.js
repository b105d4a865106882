import assert from "node:assert/strict";
import { test } from "node:test";

import { piecesOf } from "../../../../extension/worker/input/key-press.js";

const summary = (pieces) =>
  pieces.map((piece) => (typeof piece === "string" ? [piece] : piece.key.key));

test("characters of the keyboard are typed by keys, others are inserted", () => {
  assert.deepEqual(summary(piecesOf("aB é世!", true)), ["a", "B", " ", ["é世"], "!"]);
});

test("every kind of line break is the Enter key", () => {
  assert.deepEqual(summary(piecesOf("a\r\nb\n\rc", true)), [
    "a",
    "Enter",
    "b",
    "Enter",
    "Enter",
    "c",
  ]);
});

test("a letter and its accents are inserted together", () => {
  assert.deepEqual(summary(piecesOf("👩‍👧", true)), [["👩‍👧"]]);
});

test("a long text is inserted line by line", () => {
  const line = "words ".repeat(60);
  assert.deepEqual(summary(piecesOf(`${line}\n${line}`, true)), [[line], "Enter", [line]]);
});

test("an element that takes no text gets a limited number of keys", () => {
  assert.deepEqual(summary(piecesOf("Fr", false)), ["F", "r"]);
  assert.throws(() => piecesOf("ß", false), { reason: "invalid_arguments" });
  assert.throws(() => piecesOf("x".repeat(301), false), { reason: "invalid_arguments" });
});
