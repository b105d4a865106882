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

test("endings, types and families of types are understood", () => {
  assert.deepEqual(misfits("image/*"), ["c.txt"]);
  assert.deepEqual(misfits(".png, text/plain"), ["b.jpg"]);
  assert.deepEqual(misfits("IMAGE/JPEG"), ["a.PNG", "c.txt"]);
});

test("who asks for nothing, or for anything, gets anything", () => {
  for (const accept of ["", " ", "*/*", "image/png, */*"]) assert.deepEqual(misfits(accept), []);
});
