import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces, plain, siteOf } from "../../../../extension/worker/person/plain-text.js";

const marksOf = (text) => pieces(text).flatMap(({ text: part, isMark }) => (isMark ? [part] : []));

test("ordinary text of any language is left alone", () => {
  for (const text of ["Hello, world", "Grüße", "שלום", "日本語", "😀", "a b", "<b>&amp;</b>"]) {
    assert.deepEqual(pieces(text), [{ text, isMark: false }]);
  }
  assert.deepEqual(pieces(""), []);
});

test("characters that reverse or hide text, or are invisible, are marked by their code point", () => {
  const unseen =
    "\u202e\u2066\u200b\u200d\ufeff\u00ad\u0000\u007f\u00a0\u2028\u3164\u2800\u{e0041}";
  const numbers = [...unseen].map((character) =>
    character.codePointAt(0).toString(16).toUpperCase(),
  );
  assert.deepEqual(
    marksOf(unseen),
    numbers.map((number) => `U+${number.padStart(4, "0")}`),
  );
  assert.deepEqual(marksOf("a\ud800b"), ["U+D800"]);
});

test("a text that looks like a mark is not marked", () => {
  assert.deepEqual(marksOf("U+202E [U+202E] ↵"), []);
});

test("line breaks and tabs are marked and keep their effect", () => {
  const texts = pieces("a\n\tb").map(({ text }) => text);
  assert.deepEqual(texts, ["a", "↵", "\n", "⇥", "\t", "b"]);
});

test("plain text is on one line, with the marks in brackets", () => {
  assert.equal(plain("pay\n\n\tme \u202etxt"), "pay me [U+202E]txt");
});

test("a site is the host with its port, or else the origin", () => {
  assert.equal(siteOf("https://shop.example.com"), "shop.example.com");
  assert.equal(siteOf("http://127.0.0.1:8000"), "127.0.0.1:8000");
  assert.equal(siteOf("file://"), "file://");
  assert.equal(siteOf("null"), "null");
  assert.equal(siteOf(null), "");
});
