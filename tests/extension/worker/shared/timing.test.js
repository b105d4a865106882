import assert from "node:assert/strict";
import { test } from "node:test";

import { RateLimit, onAbort, unlessAborted } from "../../../../extension/worker/shared/timing.js";

test("work that is cancelled before its start does not start", async () => {
  let begun = false;
  const work = async () => (begun = true);
  await assert.rejects(unlessAborted(AbortSignal.abort(new Error("no")), work), /no/);
  assert.equal(begun, false);
});

test("cancelled work ends the wait at once", async () => {
  const controller = new AbortController();
  const waiting = unlessAborted(controller.signal, () => new Promise(() => {}));
  controller.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
});

test("a late listener is called at once", () => {
  const reasons = [];
  onAbort(AbortSignal.abort("late"), (reason) => reasons.push(reason));
  assert.deepEqual(reasons, ["late"]);
});

test("more than the limit in one second exceeds the rate, and the next second starts again", () => {
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
