import assert from "node:assert/strict";
import { test } from "node:test";

import { RateLimit, onAbort, unlessAborted } from "../../../../extension/worker/shared/timing.js";

test("work that was cancelled before it began does not begin", async () => {
  let begun = false;
  const work = async () => (begun = true);
  await assert.rejects(unlessAborted(AbortSignal.abort(new Error("no")), work), /no/);
  assert.equal(begun, false);
});

test("work that is cancelled is not waited for", async () => {
  const controller = new AbortController();
  const waiting = unlessAborted(controller.signal, () => new Promise(() => {}));
  controller.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
});

test("whoever listens too late is told at once", () => {
  const told = [];
  onAbort(AbortSignal.abort("late"), (reason) => told.push(reason));
  assert.deepEqual(told, ["late"]);
});

test("more than the most in one second is a rate, and the next second is another", () => {
  const rate = new RateLimit(2);
  assert.deepEqual(
    [5000, 5400, 5999].map((now) => rate.note(now)),
    [false, false, true],
  );
  assert.deepEqual(
    [6000, 6001, 6002].map((now) => rate.note(now)),
    [false, false, true],
  );
});
