import assert from "node:assert/strict";
import { test } from "node:test";

import { countLines, cut, stitch } from "../../../../extension/worker/reading/frame-stitching.js";

const leaf = { text: 'button "In" [ref_200000]\n text "deep"', frames: [], whole: true };

test("a child frame's lines follow the line of its element, one level deeper", () => {
  const frames = [{ line: 1, depth: 1, ref: 2, index: 0, page: leaf }];
  const page = { text: 'main\n iframe [ref_2]\n text "after"', frames, whole: true };
  assert.equal(
    stitch(page, 15).text,
    'main\n iframe [ref_2]\n  button "In" [ref_200000]\n   text "deep"\n text "after"',
  );
});

test("nested frames are stitched, and frames without an answer are left out", () => {
  const middle = {
    text: "iframe [ref_100000]",
    frames: [{ line: 0, depth: 0, ref: 100_000, index: 0, page: leaf }],
    whole: true,
  };
  const frames = [
    { line: 0, depth: 0, ref: 1, index: 0, page: null },
    { line: 1, depth: 0, ref: 2, index: 1, page: middle },
  ];
  const { text } = stitch({ text: "iframe [ref_1]\niframe [ref_2]", frames, whole: true }, 15);
  const lines = text.split("\n");
  assert.equal(lines.length, 5);
  assert.equal(lines[3], '  button "In" [ref_200000]');
});

test("depth counts across frames", () => {
  const frames = [{ line: 0, depth: 0, ref: 1, index: 0, page: leaf }];
  const { text } = stitch({ text: "iframe [ref_1]", frames, whole: true }, 1);
  assert.equal(countLines(text), 2);
});

test("a text is cut between lines, and its parts make the whole", () => {
  const text = Array.from({ length: 50 }, (_, i) => `text "line ${i}"`).join("\n");
  const parts = [];
  for (let offset = 0; offset !== undefined;) {
    const part = cut({ text, whole: true }, offset, 100);
    assert.ok(part.text.length <= 100);
    assert.equal(part.truncated, part.next !== undefined);
    parts.push(part.text);
    offset = part.next;
  }
  assert.equal(parts.join("\n"), text);
});

test("a single line longer than the limit is cut all the same", () => {
  const { text, next } = cut({ text: "x".repeat(300), whole: true }, 0, 100);
  assert.equal(text.length, 100);
  assert.equal(next, 100);
});

test("no text follows a frame that was not read to its end", () => {
  const child = { text: 'text "begun', frames: [], whole: false };
  const frames = [{ line: 0, depth: 0, ref: 1, index: 0, page: child }];
  const page = { text: 'iframe [ref_1]\ntext "after"', frames, whole: true };
  assert.deepEqual(stitch(page, 15), { text: 'iframe [ref_1]\n text "begun', whole: false });
});

test("an incomplete text is truncated until its end", () => {
  const page = { text: "one\ntwo", whole: false };
  assert.deepEqual(cut(page, 0, 100), { text: "one\ntwo", truncated: true, next: 7 });
  assert.equal(cut(page, 7, 100).truncated, false);
  assert.match(cut(page, 7, 100).text, /too large/);
});

test("no cut splits a surrogate pair, and every cut can be continued", () => {
  const text = "😀".repeat(20);
  for (const size of [1, 2, 3, 7]) {
    const parts = [];
    for (let offset = 0; offset !== undefined;) {
      const part = cut({ text, whole: true }, offset, size);
      assert.ok(part.text.isWellFormed());
      parts.push(part.text);
      offset = part.next;
    }
    assert.equal(parts.join(""), text);
  }
});
