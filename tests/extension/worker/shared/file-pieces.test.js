import assert from "node:assert/strict";
import { test } from "node:test";

const { bytesIn, carry } = await import("../../../../extension/worker/shared/file-pieces.js");

const file = (name, size) => ({ name, mimeType: "text/plain", size });

/** A context whose files consist of these pieces, and the list of requested pieces. */
function doubles(pieces) {
  const asked = [];
  const added = [];
  const context = {
    signal: new AbortController().signal,
    progress: (done, total) => added.push(`${done} of ${total}`),
    readFile: async (index, offset) => {
      asked.push([index, offset]);
      return { data: btoa(pieces[index].shift() ?? "") };
    },
  };
  const give = async (index, data) => void added.push(`${index}: ${atob(data)}`);
  return { asked, added, context, give };
}

test("the bytes behind base64 are counted without decoding", () => {
  for (const text of ["", "a", "ab", "abc", "abcd"]) assert.equal(bytesIn(btoa(text)), text.length);
});

test("every file is requested until it is complete", async () => {
  const { asked, added, context, give } = doubles([["abc", "de"], [], ["f"]]);
  await carry(context, [file("x", 5), file("empty", 0), file("y", 1)], give);
  assert.deepEqual(asked, [
    [0, 0],
    [0, 3],
    [2, 0],
  ]);
  assert.deepEqual(added, ["0: abc", "3 of 6", "0: de", "5 of 6", "2: f", "6 of 6"]);
});

test("a file that ends too early, or is too large for a page, is refused", async () => {
  const { context, give } = doubles([["ab"]]);
  await assert.rejects(carry(context, [file("x", 5)], give), { reason: "invalid_arguments" });
  await assert.rejects(carry(context, [file("x", 2e8)], give), { reason: "too_large" });
});
