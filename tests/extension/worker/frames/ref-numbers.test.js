import assert from "node:assert/strict";
import { test } from "node:test";

import { parseRef, RefNumbers, slotOf } from "../../../../extension/worker/frames/ref-numbers.js";

test("a ref is read as its number, and nothing else is a ref", () => {
  assert.equal(parseRef("ref_200017"), 200_017);
  for (const bad of ["ref_0", "ref_", "ref_1x", "12", "ref_-1", 5, null]) {
    assert.equal(parseRef(bad), null);
  }
});

test("the next page of a tab continues the numbers of the last one", () => {
  const books = new RefNumbers();
  assert.deepEqual(books.assign(1, true), { slot: 0, next: 1 });
  books.note(1, { slot: 0, next: 41 });
  assert.deepEqual(books.assign(1, true), { slot: 0, next: 41 });
  assert.deepEqual(books.assign(2, true), { slot: 0, next: 1 });
});

test("every child document has its own range of numbers", () => {
  const books = new RefNumbers();
  const [a, b] = [books.assign(1, false), books.assign(1, false)];
  assert.notEqual(a.slot, b.slot);
  assert.equal(slotOf(a.next), a.slot);
  assert.equal(slotOf(b.next + 99_999), b.slot);
});

test("a restarted worker learns from the frames which slots are taken", () => {
  const books = new RefNumbers();
  assert.equal(books.note(1, { slot: 7, next: 700_003 }), true);
  assert.equal(books.assign(1, false).slot, 8);
});

test("the numbers survive storing and loading", () => {
  const books = new RefNumbers();
  books.note(1, { slot: 0, next: 12 });
  const again = new RefNumbers();
  again.load(JSON.parse(JSON.stringify(books.dump())));
  assert.equal(again.assign(1, true).next, 12);
  again.load("nonsense");
  assert.equal(again.assign(1, true).next, 12);
});

test("messages of a frame before the restore do not lose numbers", () => {
  const books = new RefNumbers();
  books.note(1, { slot: 0, next: 15 });
  books.load([[1, { nextMain: 12, nextSlot: 4 }]]);
  assert.equal(books.assign(1, true).next, 15);
  assert.equal(books.assign(1, false).slot, 4);
});
