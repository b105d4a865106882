import assert from "node:assert/strict";
import { test } from "node:test";

import { countLines, cut, stitch } from "../../extension/worker/stitch.js";

const leaf = { text: "button \"In\" [ref_200000]\n text \"deep\"", frames: [] };

test("a child frame's lines stand beneath its own line, one level deeper", () => {
  const frames = [{ line: 1, depth: 1, ref: 2, index: 0, page: leaf }];
  const page = { text: "main\n iframe [ref_2]\n text \"after\"", frames };
  assert.equal(
    stitch(page, 15),
    'main\n iframe [ref_2]\n  button "In" [ref_200000]\n   text "deep"\n text "after"',
  );
});

test("frames within frames, and frames nobody answered for", () => {
  const middle = {
    text: "iframe [ref_100000]",
    frames: [{ line: 0, depth: 0, ref: 100_000, index: 0, page: leaf }],
  };
  const frames = [
    { line: 0, depth: 0, ref: 1, index: 0, page: null },
    { line: 1, depth: 0, ref: 2, index: 1, page: middle },
  ];
  const text = stitch({ text: "iframe [ref_1]\niframe [ref_2]", frames }, 15);
  const lines = text.split("\n");
  assert.equal(lines.length, 5);
  assert.equal(lines[3], '  button "In" [ref_200000]');
});

test("depth counts across frames", () => {
  const frames = [{ line: 0, depth: 0, ref: 1, index: 0, page: leaf }];
  const text = stitch({ text: "iframe [ref_1]", frames }, 1);
  assert.equal(countLines(text), 2);
});

test("a text is cut between lines, and its parts make the whole", () => {
  const text = Array.from({ length: 50 }, (_, i) => `text "line ${i}"`).join("\n");
  const parts = [];
  for (let offset = 0; offset !== undefined; ) {
    const part = cut(text, offset, 100);
    assert.ok(part.text.length <= 100);
    assert.equal(part.truncated, part.next !== undefined);
    parts.push(part.text);
    offset = part.next;
  }
  assert.equal(parts.join("\n"), text);
});

test("a single line longer than the limit is cut all the same", () => {
  const { text, next } = cut("x".repeat(300), 0, 100);
  assert.equal(text.length, 100);
  assert.equal(next, 100);
});
