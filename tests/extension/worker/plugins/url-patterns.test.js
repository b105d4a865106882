import assert from "node:assert/strict";
import { test } from "node:test";

import { isMatch } from "../../../../extension/worker/plugins/url-patterns.js";

const matches = (pattern, url, ...excludePatterns) =>
  isMatch({ urlPatterns: [pattern], excludePatterns }, url);

for (const [pattern, url, expected] of [
  ["*://example.com/*", "https://example.com/", true],
  ["*://example.com/*", "http://example.com:8080/a?b#c", true],
  ["*://example.com/*", "https://www.example.com/", false],
  ["*://*.example.com/*", "https://example.com/", true],
  ["*://*.example.com/*", "https://a.b.example.com./", true],
  ["*://*.example.com/*", "https://badexample.com/", false],
  ["https://example.com/*", "http://example.com/", false],
  ["*://example.com:8080/*", "http://example.com:8080/", true],
  ["*://example.com:443/*", "https://example.com/", true],
  ["*://example.com:8080/*", "http://example.com/", false],
  ["*://[::1]/*", "http://[::1]:9/", true],
  ["*://example.com/a/*/c", "https://example.com/a/b/c", true],
  ["*://example.com/a*a", "https://example.com/a", false],
  ["*://example.com/a", "https://example.com/a", true],
  ["*://example.com/a", "https://example.com/a?b", false],
  ["*://example.com/*", "ftp://example.com/", false],
  ["<all_urls>", "https://example.com/", false],
  ["*://example.com/*", "nothing", false],
]) {
  test(`${pattern} and ${url}`, () => assert.equal(matches(pattern, url), expected));
}

test("what is excluded does not match", () => {
  const [pattern, excluded] = ["*://example.com/*", "*://example.com/private/*"];
  assert.equal(matches(pattern, "https://example.com/private/x", excluded), false);
  assert.equal(matches(pattern, "https://example.com/public", excluded), true);
});

test("a long path takes no time", () => {
  const path = "ab".repeat(500_000);
  assert.equal(matches("*://example.com/*a*a*a*a*c", `https://example.com/${path}`), false);
});
