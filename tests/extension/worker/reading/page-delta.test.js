import assert from "node:assert/strict";
import { test } from "node:test";

import { delta } from "../../../../extension/worker/reading/page-delta.js";

const lines = (...list) => list.join("\n");

test("what is the same is not told", () => {
  assert.equal(delta("one\ntwo", "one\ntwo"), "");
});

test("new lines and lines that are gone stand where they differ", () => {
  const before = lines("a", "b", "c", "d", "e");
  const after = lines("a", "B", "c", "d", "new", "e");
  assert.equal(delta(before, after), lines("-b", "+B", "+new"));
});

test("a line that moved is gone in one place and new in another", () => {
  assert.equal(delta(lines("a", "b", "c", "d"), lines("b", "c", "a", "d")), lines("-a", "+a"));
});

test("lines that repeat do not hide what changed between them", () => {
  const before = lines("x", "row 1", "x", "row 2", "x", "row 3", "x");
  const after = lines("x", "row 1", "x", "row 2", "x", "x", "row 3", "x");
  assert.equal(delta(before, after), "+x");
});

test("from what was before, the delta makes what is now", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 200; round++) {
    const before = Array.from({ length: random(12) + 1 }, () => `l${random(6)}`);
    const after = Array.from({ length: random(12) + 1 }, () => `l${random(6)}`);
    const told = delta(before.join("\n"), after.join("\n")).split("\n").filter(Boolean);
    const count = (list, sign) => list.filter((line) => line[0] === sign).length;
    const kept = before.length - count(told, "-");
    assert.equal(kept + count(told, "+"), after.length);
  }
});

test("two large pages that differ in everything are compared too", () => {
  const page = (word) => Array.from({ length: 60_000 }, (_, n) => `${word} ${n % 500}`).join("\n");
  assert.equal(delta(page("a"), page("b")).split("\n").length, 120_000);
});
