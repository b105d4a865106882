import assert from "node:assert/strict";
import { test } from "node:test";

import { Ring } from "../../../../extension/worker/recording/ring-buffer.js";

test("the oldest give way when there are too many", () => {
  const ring = new Ring(2, 1000);
  for (const entry of ["a", "b", "c"]) ring.put(entry, 1);
  assert.deepEqual(ring.entries, ["b", "c"]);
  assert.equal(ring.dropped, 1);
});

test("the oldest give way when they are too large together", () => {
  const ring = new Ring(100, 10);
  ring.put("a", 4);
  ring.put("b", 4);
  ring.put("c", 4);
  assert.deepEqual(ring.entries, ["b", "c"]);
});

test("an entry that is too large by itself is not kept, and no other suffers for ever", () => {
  const ring = new Ring(100, 10);
  ring.put("a", 4);
  ring.put("b", 40);
  ring.put("c", 4);
  assert.deepEqual(ring.entries, ["c"]);
});

test("one that grows keeps its place, and one that has gone does not come back", () => {
  /** @type {string[]} */
  const gone = [];
  const ring = new Ring(2, 10);
  ring.onDropped = (entry) => gone.push(entry);
  ring.put("a", 1);
  ring.put("b", 1);
  ring.put("a", 5, false);
  assert.deepEqual(ring.entries, ["a", "b"]);
  ring.put("c", 1);
  ring.put("a", 1, false);
  assert.deepEqual([ring.entries, gone], [["b", "c"], ["a"]]);
});

test("a ring of nothing keeps nothing", () => {
  const ring = new Ring(0, 10);
  ring.put("a", 1);
  assert.deepEqual(ring.entries, []);
});
