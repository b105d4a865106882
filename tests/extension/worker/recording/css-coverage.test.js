import assert from "node:assert/strict";
import { test } from "node:test";
import { styleRules, summary } from "../../../../extension/worker/recording/css-coverage.js";

const selectors = (text) => styleRules(text).map(({ selector }) => selector);

test("style rules are found at every level, and nothing else", () => {
  const text = `@import url(x;y.css); @charset "}{";
    a { color: red } /* no { rule } */ b,\n i { background: url(data:;a}b) }
    @media (min-width: 1px) { c { } @supports (x: y) { d { content: "}" } } }
    @font-face { src: x } @keyframes k { from { top: 0 } }
    e { color: red; &:hover { color: blue } } .f\\{ { }`;
  assert.deepEqual(selectors(text), ["a", "b, i", "c", "d", "e", ".f\\{"]);
});

test("parsing a broken sheet ends", () => {
  for (const text of ["a {", "}", "}}a{}", "a", "/*", '"', "@media {", "a { b: '", ";;"]) {
    assert.ok(selectors(text).length <= 1);
  }
});

test("a rule that is reported several times counts once", () => {
  const text = "a { color: red } b,\n i { color: blue } u { color: green }";
  const result = summary(text, [0, 0, text.indexOf("u {")]);
  assert.deepEqual(result, {
    totalBytes: text.length,
    usedBytes: "a { color: red }u { color: green }".length,
    rules: 3,
    usedRules: 2,
    unused: ["b, i"],
  });
});
