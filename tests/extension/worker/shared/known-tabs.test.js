import assert from "node:assert/strict";
import { test } from "node:test";

const urls = new Map([[1, "https://shop.example/"]]);
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: urls.get(id) }) },
};
const { requireSite, siteOf } = await import("../../../../extension/worker/shared/known-tabs.js");
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

test("a page is found even without an event of its navigation", async () => {
  report("committed", 2, "https://a.example/");
  urls.set(2, "http://nowhere.invalid/");
  await requireSite(2, "nowhere.invalid");
});
