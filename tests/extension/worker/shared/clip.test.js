import assert from "node:assert/strict";
import { test } from "node:test";

import { clip } from "../../../../extension/worker/shared/clip.js";

test("a text is clipped to its length, with a mark, and never inside a pair", () => {
  assert.equal(clip("abc", 3), "abc");
  assert.equal(clip("abcd", 3), "ab…");
  for (const length of [2, 3, 4, 5]) {
    const short = clip("a😀😀😀", length);
    assert.ok(short.length <= length && short.isWellFormed());
  }
});
