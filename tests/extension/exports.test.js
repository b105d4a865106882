import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const EXPORTED = /^export (?:async )?(?:const|let|class|function\*?) (\w+)/gm;
const NAMED = /\{([^{}]*)\}\s*(?:from|=\s*await import\()\s*"(\.[^"]+)"/g;
const ALL = /(?:\* as \w+ from|const \w+ = await import\()\s*"(\.[^"]+)"/g;
const TYPE = /import\("(\.[^"]+)"\)\.(\w+)/g;

/** @returns {string[]} what a file imports, as "URL name", with the name * for everything */
function importsOf(code, url) {
  const named = [...code.matchAll(NAMED)].flatMap(([, names, path]) =>
    names.split(",").map((name) => [path, name.trim().split(/\s|:/)[0]]),
  );
  const all = [...code.matchAll(ALL)].map(([, path]) => [path, "*"]);
  const types = [...code.matchAll(TYPE)].map(([, path, name]) => [path, name]);
  const found = [...named, ...all, ...types];
  return found.map(([path, name]) => `${new URL(path, url)} ${name}`);
}

const files = ["extension/", "tests/extension/"].flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true })
    .filter((name) => name.endsWith(".js"))
    .map((name) => ({
      name: folder + name,
      code: readFileSync(new URL(folder + name, ROOT), "utf8"),
    })),
);
const imported = new Set(files.flatMap(({ name, code }) => importsOf(code, new URL(name, ROOT))));

test("another module or a test imports each export", () => {
  const unused = files.flatMap(({ name, code }) => {
    const url = new URL(name, ROOT);
    const words = [...code.matchAll(EXPORTED)].map(([, word]) => word);
    const idle = words.filter((word) => ![word, "*"].some((one) => imported.has(`${url} ${one}`)));
    return idle.map((word) => `${name}: ${word}`);
  });
  assert.deepEqual(unused, []);
});
