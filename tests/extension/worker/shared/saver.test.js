import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as rest } from "node:timers/promises";

const { saver } = await import("../../../../extension/worker/shared/tab-state.js");

test("the first change is saved at once, frequent ones occasionally, and the last one always", async () => {
  /** @type {any[]} */
  const written = [];
  /** @type {PromiseWithResolvers<void>} */
  const slow = Promise.withResolvers();
  const set = (all) => (written.push(all.here), slow.promise);
  globalThis.chrome = { storage: { session: { set } } };
  let state = 0;
  const save = saver("here", () => state);
  for (state = 1; state < 100; state++) save();
  assert.deepEqual(written, [1]);
  slow.resolve();
  while (written.length < 2) await rest(1);
  assert.deepEqual(written, [1, 100]);
});
