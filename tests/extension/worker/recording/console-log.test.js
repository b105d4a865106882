import assert from "node:assert/strict";
import { test } from "node:test";
import { RepeatedMessages } from "../../../../extension/worker/recording/console-log.js";

test("repeated messages are recognized after a page was left", () => {
  const repeated = new RepeatedMessages(10);
  assert.equal(repeated.knows(1.5), false);
  assert.equal(repeated.knows(1.5), false);
  repeated.left();
  assert.equal(repeated.knows(1.5), true);
  assert.equal(repeated.knows(1.5), true);
});

test("a new message counts as new, and so does an unreported old one", () => {
  const repeated = new RepeatedMessages(10);
  repeated.knows(2);
  repeated.left();
  assert.equal(repeated.knows(3), false);
  assert.equal(repeated.knows(3), false);
  assert.equal(repeated.knows(1), false);
});

test("only the latest messages are remembered", () => {
  const repeated = new RepeatedMessages(2);
  for (const time of [1, 2, 3]) repeated.knows(time);
  repeated.left();
  assert.deepEqual(
    [3, 2, 1].map((time) => repeated.knows(time)),
    [true, true, false],
  );
});
