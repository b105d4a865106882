import assert from "node:assert/strict";
import { test } from "node:test";

import { Ring } from "../../../../extension/worker/recording/ring-buffer.js";

test("too many entries drop the oldest", () => {
  const ring = new Ring(2, 1000);
  for (const entry of ["a", "b", "c"]) ring.put(entry, 1);
  assert.deepEqual(ring.entries, ["b", "c"]);
  assert.equal(ring.dropped, 1);
});

test("entries that are too large together drop the oldest", () => {
  const ring = new Ring(100, 10);
  ring.put("a", 4);
  ring.put("b", 4);
  ring.put("c", 4);
  assert.deepEqual(ring.entries, ["b", "c"]);
});

test("a single entry above the limit is not kept, and does not block later ones", () => {
  const ring = new Ring(100, 10);
  ring.put("a", 4);
  ring.put("b", 40);
  ring.put("c", 4);
  assert.deepEqual(ring.entries, ["c"]);
});

test("an entry that grows keeps its place, and a dropped one stays dropped", () => {
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

test("a ring buffer of size zero keeps nothing", () => {
  const ring = new Ring(0, 10);
  ring.put("a", 1);
  assert.deepEqual(ring.entries, []);
});
