import assert from "node:assert/strict";
import { test } from "node:test";

const { Holds } = await import("../../../../extension/worker/debugger/holds.js");

function holds() {
  /** @type {any[]} */
  const saved = [];
  return { saved, all: new Holds((entries) => saved.push(entries)) };
}

test("a tab is held until the last reason is gone", () => {
  const { all } = holds();
  all.add(1, "recording");
  all.add(1, "throttling");
  assert.equal(all.remove(1, "recording"), false);
  assert.ok(all.has(1));
  assert.equal(all.remove(1, "throttling"), true);
  assert.ok(!all.has(1));
});

test("a tab without a hold is not released", () => {
  const { all, saved } = holds();
  assert.equal(all.remove(1, "recording"), false);
  assert.deepEqual(saved, []);
});

test("every change is saved, and restored for the tabs that are still attached", () => {
  const { all, saved } = holds();
  all.add(1, "recording");
  all.add(2, "recording");
  all.add(2, "recording");
  assert.equal(saved.length, 2);
  const next = holds();
  next.all.load(saved.at(-1), [2, 3]);
  assert.deepEqual(next.all.tabsOf("recording"), [2]);
  assert.deepEqual(next.saved, [[[2, ["recording"]]]]);
});

test("an empty storage restores no hold", () => {
  const { all } = holds();
  all.load(undefined, [1]);
  assert.ok(!all.has(1));
});
