import assert from "node:assert/strict";
import { test } from "node:test";

import { matcher } from "../../../../extension/worker/recording/safe-pattern.js";

const TEXTS = [
  "",
  "a",
  "ab",
  "aab",
  "abc abc",
  "Error: it failed at http://a.example/x.js:10:5",
  "warn 42%",
  "[app] ready (3 items)",
  "x\ny",
  "{}[]()*+?.^$|\\/",
  "naïve 漢字 😀",
  "under_score-dash",
];
const PATTERNS = [
  ...["", "a", "a|b", "abc|Error", "^a", "b$", "^$", "a*", "a+b", "a?b", "(ab)+", "(?:a|b)c"],
  ...["[a-c]{2}", "[^a-z]", "\\d+", "\\w{3,}", "\\bit\\b", "\\Bt", "a.*c", "^.$", "x.y", "\\s"],
  ...[
    "\\[app\\]",
    "(\\d+) items",
    "http:\\/\\/[^/]+\\/",
    "a{2}",
    "a{0}b",
    "a{1,2}b",
    "(a|ab)(c|bc)",
  ],
  ...[
    "\\x61",
    "\\u0061b",
    "漢.",
    "[漢字]+",
    "😀",
    "\\.js:(\\d+):(\\d+)",
    "(?<name>a)b",
    "a*?b",
    "[]",
    "[^]",
  ],
  ...[
    "\\{\\}",
    "}",
    "]",
    "(|a)b",
    "(a*)*b",
    "((a+)+)+$",
    "\\t|\\n",
    "[\\]\\[]",
    "^(a|b|c| )*$",
    "\\*\\+",
  ],
];

for (const pattern of PATTERNS) {
  test(`/${pattern}/ finds the same matches as JavaScript's own`, () => {
    const finds = matcher(pattern);
    const found = TEXTS.filter((text) => finds(text));
    assert.deepEqual(
      found,
      TEXTS.filter((text) => new RegExp(pattern).test(text)),
    );
  });
}

for (const pattern of [
  "(a+)+$",
  "(a|a)*b",
  "(a*)*(a*)*b",
  "(.*)(.*)(.*)(.*)(.*)(.*)x",
  "a?".repeat(60) + "a".repeat(60) + "b",
  "(?:){999999999}x",
  "(?:(?:){999999999}){999999999}x",
  "(?:a{0}){999999999}x",
]) {
  test(`/${pattern.slice(0, 30)}/ ends quickly on a text made for slow matching`, () => {
    const text = "a".repeat(5000) + "c";
    assert.equal(matcher(pattern)(text), false);
  });
}

for (const [pattern, why] of [
  ["(", /not a regular expression/],
  ["a(?=b)", /looks ahead or behind/],
  ["(?<!a)b", /looks ahead or behind/],
  ["(a)\\1", /refers back/],
  ["a{1000}{1000}", /not a regular expression/],
  ["(a{1000}){1000}", /too large/],
  ["(?:){0,999999999}x", /too large/],
  ["a".repeat(1001), /longer than/],
]) {
  test(`/${pattern.slice(0, 30)}/ is refused`, () => {
    assert.throws(() => matcher(pattern), { reason: "invalid_arguments", message: why });
  });
}
