import assert from "node:assert/strict";
import { test } from "node:test";

const urls = new Map([[1, "https://shop.example/"]]);
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: urls.get(id) }) },
};
const { onlyOn, requireSite, siteOf } =
  await import("../../../../extension/worker/shared/known-tabs.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

for (const [url, site] of [
  ["https://Example.com/a", "example.com"],
  ["http://example.com:80/", "example.com"],
  ["http://localhost:8080/", "localhost:8080"],
  ["https://example.com.:8443/", "example.com:8443"],
  ["https://user:pw@bücher.example/", "xn--bcher-kva.example"],
  ["http://[::1]:9/", "[::1]:9"],
  ["about:blank", ""],
  ["about:blank#x", ""],
  ["", ""],
  [undefined, ""],
  ["blob:https://a.example/1", "a.example"],
  ["data:text/html,x", "opaque"],
  ["chrome://version", "opaque"],
  ["not an address", "opaque"],
]) {
  test(`the site of ${url} is ${JSON.stringify(site)}`, () => assert.equal(siteOf(url), site));
}

test("a tab on the approved site passes the check, another does not", async () => {
  await requireSite(1, "shop.example");
  await requireSite(1, undefined);
  report("committed", 1, "https://bank.example/");
  urls.set(1, "https://bank.example/");
  await assert.rejects(requireSite(1, "shop.example"), { reason: "tab_url_mismatch" });
  await requireSite(1, "bank.example");
});

/**
 * @param {string | undefined} site
 * @param {{protocol: string, host: string}} location
 */
function passes(site, location) {
  try {
    new Function("location", onlyOn("", site, "word"))(location);
    return true;
  } catch (thrown) {
    assert.equal(thrown, "word");
    return false;
  }
}

test("the check in the page stops code on any other site", () => {
  const at = (host, protocol = "https:") => ({ host, protocol });
  assert.ok(passes("a.example:8080", at("a.example:8080")));
  assert.ok(passes("a.example:8080", at("a.example.:8080")));
  assert.ok(passes("a.example", at("a.example.")));
  assert.ok(!passes("a.example", at("b.example")));
  assert.ok(!passes("a.example", at("a.example:8080")));
  assert.ok(!passes("", at("b.example", "http:")));
  assert.ok(!passes("opaque", at("b.example")));
  assert.ok(passes("", at("", "about:")));
  assert.ok(passes("a.example", at("chromewebdata", "chrome-error:")));
  assert.ok(passes(undefined, at("anywhere")));
});

test("a site cannot break out of the check", () => {
  assert.ok(!passes('"||true||"', { protocol: "https:", host: "b.example" }));
});

test("a page is found even without an event of its navigation", async () => {
  report("committed", 2, "https://a.example/");
  urls.set(2, "http://nowhere.invalid/");
  await requireSite(2, "nowhere.invalid");
});

test("the check leaves directives at the beginning", () => {
  const code = onlyOn('"use strict"; x', "a.example", "word");
  assert.ok(code.startsWith('"use strict";if('));
  assert.ok(onlyOn("'a' + b", "a.example", "word").endsWith(";'a' + b"));
});
