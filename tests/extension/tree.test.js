import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const EXTENSION = new URL("extension/", ROOT);
const MOST_FILES = 20;
/** The folders that each folder of content scripts may use; `worker-port.js` may use all of them. */
const MAY_USE = {
  shared: ["shared"],
  reading: ["reading", "shared"],
  acting: ["acting", "shared"],
  observing: ["acting", "observing", "reading", "shared"],
  page_tools: ["page_tools", "shared"],
  plugins: ["plugins", "page_tools", "shared"],
};
const PORT = "content/worker-port.js";

const filesIn = (folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes("__pycache__"));
const scripts = JSON.parse(readFileSync(new URL("manifest.json", EXTENSION), "utf8"))
  .content_scripts.flatMap(({ js }) => js)
  .map((path) => [path, readFileSync(new URL(path, EXTENSION), "utf8")]);
const definedIn = new Map();
for (const [path, code] of scripts) {
  for (const [, part] of code.matchAll(/tabhub\.define\("(\w+)"/g)) definedIn.set(part, path);
}

/** @returns {[user: string, part: string, definition: string][]} */
function uses() {
  return scripts.flatMap(([path, code]) => {
    const parts = new Set([...code.matchAll(/\btabhub\.(\w+)/g)].map(([, part]) => part));
    for (const [, names] of code.matchAll(/\{([^{}]*)\} = tabhub;/g)) {
      names.split(",").forEach((name) => parts.add(name.split(":")[0].trim()));
    }
    const used = [...parts].filter((part) => definedIn.has(part) && definedIn.get(part) !== path);
    return used.map((part) => [path, part, definedIn.get(part)]);
  });
}

test("every content script is in the manifest, once", () => {
  const listed = scripts.map(([path]) => path);
  const found = filesIn("extension/content/").filter((path) => path.endsWith(".js"));
  assert.deepEqual(
    listed.toSorted(),
    found.map((path) => path.slice(path.indexOf("/content/") + 1)).toSorted(),
  );
});

test("a part of the content scripts is defined before a script uses it", () => {
  const order = scripts.map(([path]) => path);
  assert.ok(uses().length > 50);
  const early = uses().filter(([user, , from]) => order.indexOf(from) > order.indexOf(user));
  assert.deepEqual(early, []);
});

test("folders of content scripts use only the folders allowed to them", () => {
  const folder = (path) => path.split("/")[1];
  const wrong = uses().filter(
    ([user, , from]) => user !== PORT && !MAY_USE[folder(user)]?.includes(folder(from)),
  );
  assert.deepEqual(wrong, []);
});

test(`no folder has more than ${MOST_FILES} files`, () => {
  const counts = new Map();
  for (const path of [...filesIn("extension/"), ...filesIn("tests/extension/")]) {
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  }
  assert.deepEqual(
    [...counts].filter(([, count]) => count > MOST_FILES),
    [],
  );
});

test("no two scripts of the extension have the same name", () => {
  const names = filesIn("extension/")
    .filter((path) => path.endsWith(".js"))
    .map((path) => basename(path));
  assert.deepEqual(names, [...new Set(names)]);
});
