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

test("a command can wait until its change is written, without waiting for the pause", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  /** @type {any[]} */
  const written = [];
  const set = async (all) => {
    t.mock.timers.tick(1000);
    written.push(all.here);
  };
  globalThis.chrome = { storage: { session: { set } } };
  let state = "begun";
  const save = saver("here", () => state);
  save();
  await save.written();
  state = "changed in the pause";
  save();
  assert.deepEqual(written, ["begun"]);
  await save.written();
  assert.deepEqual(written, ["begun", "changed in the pause"]);
  state = "changed after it";
  save();
  t.mock.timers.tick(3000);
  await Promise.resolve();
  assert.deepEqual(written.at(-1), "changed after it");
});
