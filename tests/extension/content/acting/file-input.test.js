import assert from "node:assert/strict";
import { test } from "node:test";

const define = (name, make) => (globalThis.tabhub[name] = make());
globalThis.tabhub = { define, dom: {} };
await import("../../../../extension/content/acting/file-input.js");

const FILES = [
  { name: "a.PNG", mimeType: "image/png" },
  { name: "b.jpg", mimeType: "image/jpeg" },
  { name: "c.txt", mimeType: "text/plain" },
];

function misfits(accept) {
  return globalThis.tabhub.accept.misfits(accept, FILES).map(({ name }) => name);
}

test("the accept list takes file extensions, types and wildcard types", () => {
  assert.deepEqual(misfits("image/*"), ["c.txt"]);
  assert.deepEqual(misfits(".png, text/plain"), ["b.jpg"]);
  assert.deepEqual(misfits("IMAGE/JPEG"), ["a.PNG", "c.txt"]);
});

test("an input without an accept list, or with */*, takes any file", () => {
  for (const accept of ["", " ", "*/*", "image/png, */*"]) assert.deepEqual(misfits(accept), []);
});
