import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const PAGE = new URL("../../../extension/panel/panel.html", import.meta.url);
const IMPORT = /^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm;
const PRELOADED = /<link rel="modulepreload" href="([^"]+)" \/>/g;

/** @returns {Set<string>} the module and all that it imports, as URLs */
function modulesOf(start) {
  const found = new Set([start]);
  for (const url of found) {
    const code = readFileSync(new URL(url), "utf8");
    for (const [, path] of code.matchAll(IMPORT)) found.add(new URL(path, url).href);
  }
  return found;
}

test("the panel loads all of its modules at once, none after another", () => {
  const start = new URL("panel-page.js", PAGE).href;
  const needed = [...modulesOf(start)].filter((url) => url !== start);
  const html = readFileSync(PAGE, "utf8");
  const preloaded = [...html.matchAll(PRELOADED)].map(([, path]) => new URL(path, PAGE).href);
  assert.ok(needed.length > 20);
  assert.deepEqual(preloaded.toSorted(), needed.toSorted());
});
