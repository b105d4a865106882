import assert from "node:assert/strict";
import { test } from "node:test";
import { RepeatedMessages } from "../../../../extension/worker/recording/console-log.js";

test("messages are told again only after a page has gone, and are known then", () => {
  const retold = new RepeatedMessages(10);
  assert.equal(retold.knows(1.5), false);
  assert.equal(retold.knows(1.5), false);
  retold.left();
  assert.equal(retold.knows(1.5), true);
  assert.equal(retold.knows(1.5), true);
});

test("a new message is new, whatever was before, and so is an old one that nobody has told", () => {
  const retold = new RepeatedMessages(10);
  retold.knows(2);
  retold.left();
  assert.equal(retold.knows(3), false);
  assert.equal(retold.knows(3), false);
  assert.equal(retold.knows(1), false);
});

test("only the latest are remembered", () => {
  const retold = new RepeatedMessages(2);
  for (const time of [1, 2, 3]) retold.knows(time);
  retold.left();
  assert.deepEqual(
    [3, 2, 1].map((time) => retold.knows(time)),
    [true, true, false],
  );
});
