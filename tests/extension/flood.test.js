import assert from "node:assert/strict";
import { test } from "node:test";

import { Flood } from "../../extension/worker/shared/timing.js";

test("more than the most in one second is a flood, and the next second is another", () => {
  const flood = new Flood(2);
  assert.deepEqual(
    [5000, 5400, 5999].map((now) => flood.note(now)),
    [false, false, true],
  );
  assert.deepEqual(
    [6000, 6001, 6002].map((now) => flood.note(now)),
    [false, false, true],
  );
});
