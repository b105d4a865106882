import assert from "node:assert/strict";
import { test } from "node:test";

import { delta } from "../../../../extension/worker/reading/page-delta.js";

const lines = (...list) => list.join("\n");

test("a delta leaves out unchanged lines", () => {
  assert.equal(delta("one\ntwo", "one\ntwo"), "");
});

test("added and removed lines are listed at their positions", () => {
  const before = lines("a", "b", "c", "d", "e");
  const after = lines("a", "B", "c", "d", "new", "e");
  assert.equal(delta(before, after), lines("-b", "+B", "+new"));
});

test("a moved line is removed in one place and added in another", () => {
  assert.equal(delta(lines("a", "b", "c", "d"), lines("b", "c", "a", "d")), lines("-a", "+a"));
});

test("repeated lines do not hide changes between them", () => {
  const before = lines("x", "row 1", "x", "row 2", "x", "row 3", "x");
  const after = lines("x", "row 1", "x", "row 2", "x", "x", "row 3", "x");
  assert.equal(delta(before, after), "+x");
});

test("the delta turns the old lines into the new ones", () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  for (let round = 0; round < 200; round++) {
    const before = Array.from({ length: random(12) + 1 }, () => `l${random(6)}`);
    const after = Array.from({ length: random(12) + 1 }, () => `l${random(6)}`);
    const lines = delta(before.join("\n"), after.join("\n")).split("\n").filter(Boolean);
    const count = (list, sign) => list.filter((line) => line[0] === sign).length;
    const kept = before.length - count(lines, "-");
    assert.equal(kept + count(lines, "+"), after.length);
  }
});

test("two large pages that differ in everything are compared too", () => {
  const page = (word) => Array.from({ length: 60_000 }, (_, n) => `${word} ${n % 500}`).join("\n");
  assert.equal(delta(page("a"), page("b")).split("\n").length, 120_000);
});
