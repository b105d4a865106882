import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

globalThis.chrome = { runtime: { getManifest: () => ({ version: "1.0.0" }) } };
const { INCOMPATIBLE, MetServer, mismatchOf, offerOf, ownEnd } =
  await import("../../../../extension/worker/link/protocol-versions.js");

// The server's own tests read them too: both ends must agree.
const cases = JSON.parse(
  readFileSync(new URL("../../../browser/link/versions.json", import.meta.url)),
);
const endOf = ([protocol, version]) => ({ protocol, version });

test("the older part is named, and how to update it", () => {
  for (const { extension, server, older, refusedBy } of cases) {
    const found = mismatchOf(endOf(extension), endOf(server));
    const which = found && (found.problem.includes("is older") ? "extension" : "server");
    assert.equal(which, older);
    if (!found) continue;
    const begins = older === "extension" ? "Update the extension: " : "Update tabhub: ";
    assert.ok(found.do.startsWith(begins));
    assert.equal(found.isRefused, refusedBy === "extension");
  }
});

test("the subprotocol has protocol and version", () => {
  assert.equal(offerOf(ownEnd()), "v2-1.0.0");
});

const greeting = (protocol, version) => ({ protocol, server: { name: "tabhub", version } });

test("a server of the same version gives no notice", () => {
  const met = new MetServer();
  assert.equal(met.greeted(greeting(2, "1.0.0")), true);
  assert.deepEqual([met.text, met.problem], ["", ""]);
});

test("another version is a notice; too old a server is the problem", () => {
  const met = new MetServer();
  assert.equal(met.greeted(greeting(2, "0.9.0")), true);
  assert.match(met.text, /newer than the server \(0\.9\.0, protocol 2\)\. Update tabhub/);
  assert.equal(met.problem, "");
  assert.equal(met.greeted(greeting(0, "0.9.0")), false);
  assert.match(met.problem, /cannot work together\. Update tabhub/);
  assert.equal(met.greeted(greeting(2, "1.0.0")), true);
  assert.equal(met.text, "");
});

test("a server that refuses the extension is the problem, and its version is known", () => {
  const met = new MetServer();
  met.closed(INCOMPATIBLE);
  assert.equal(met.problem, "");
  assert.equal(met.greeted(greeting(3, "2.0")), true);
  met.closed(1006);
  assert.equal(met.problem, "");
  met.closed(INCOMPATIBLE);
  assert.match(met.problem, /older than the server \(2\.0, protocol 3\), and the two cannot/);
});

test("a server without a version is an older one", () => {
  for (const server of [undefined, { version: 7 }]) {
    const met = new MetServer();
    assert.equal(met.greeted({ server }), true);
    assert.match(met.text, /newer than the server \(version unknown, protocol 1\)/);
  }
});
