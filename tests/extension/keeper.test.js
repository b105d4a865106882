import assert from "node:assert/strict";
import { mock, test } from "node:test";

const { keeper } = await import("../../extension/worker/keeper.js");

test("the first change is kept at once, a flood of them now and then, the last for certain", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {any[]} */
  const written = [];
  globalThis.chrome = { storage: { session: { set: async (all) => void written.push(all.here) } } };
  let state = 0;
  const save = keeper("here", () => state);
  for (state = 1; state <= 100; state++) save();
  assert.deepEqual(written, [1]);
  mock.timers.tick(1000);
  assert.deepEqual(written, [1, 101]);
  mock.timers.tick(1000);
  state = 7;
  save();
  assert.deepEqual(written, [1, 101, 7]);
});
