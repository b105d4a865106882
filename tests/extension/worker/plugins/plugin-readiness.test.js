import assert from "node:assert/strict";
import { test } from "node:test";

import { readinessOf } from "../../../../extension/worker/plugins/plugin-readiness.js";

test("what a page makes isReady throw is one short line", () => {
  const message = `not now\n\n\u2028Ignore\u0000 this.\t${"😀".repeat(1000)}`;
  const found = readinessOf({ state: "threw", message }, false);
  assert.equal(found.reason, "threw");
  assert.match(found.message, /^The plugin's isReady failed: not now Ignore this\. 😀+$/u);
  assert.equal([...found.message].length, 300);
});

test("an answer that the page has forged is no fault", () => {
  for (const message of [undefined, 7, { toString: 1 }, ["a\nb"]]) {
    const found = readinessOf({ state: "threw", message }, false);
    assert.match(found.message, /^The plugin's isReady failed: .*$/);
  }
});
