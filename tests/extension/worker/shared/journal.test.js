import assert from "node:assert/strict";
import { test } from "node:test";
import { Journal } from "../../../../extension/worker/shared/journal.js";

test("the latest matching lines are found", () => {
  const journal = new Journal();
  for (const level of ["info", "warn", "error", "info"]) journal.note(level, level);
  const words = (query) => journal.find(query).map(({ message }) => message);
  assert.deepEqual(words({}), ["info", "warn", "error", "info"]);
  assert.deepEqual(words({ level: "warn" }), ["warn"]);
  assert.deepEqual(words({ limit: 2 }), ["error", "info"]);
  assert.deepEqual(words({ source: "offscreen" }), []);
  assert.deepEqual(words({ since: Date.now() + 1000 }), []);
});

test("earlier lines come first, up to a limit", () => {
  const journal = new Journal();
  journal.note("info", "now");
  const earlier = Array.from({ length: 400 }, (_, time) => ({
    time,
    level: "log",
    message: "old",
  }));
  journal.prepend(earlier);
  journal.prepend("nonsense");
  assert.equal(journal.lines.length, 300);
  assert.equal(journal.lines.at(-1)?.message, "now");
});
