import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { SECRET, hasSecret, honest, listening } from "./port-listener.js";

/** @type {{port?: number, secret?: string}} */
let stored = {};
const overNetwork = globalThis.fetch;
globalThis.chrome = /** @type {any} */ ({
  runtime: { getURL: (/** @type {string} */ path) => `chrome-extension://ours/${path}` },
  storage: { local: { get: async () => stored } },
});
globalThis.fetch = async (url, options) => {
  if (String(url).startsWith("chrome-extension://")) throw new Error("no such file");
  return overNetwork(url, options);
};
const { diagnose } = await import("../../../../extension/worker/link/diagnosis.js");

const NOBODY = 1;

beforeEach(() => {
  stored = { port: NOBODY, secret: SECRET };
});

test("without an answer the server does not run", async () => {
  const found = await diagnose(false, "");
  assert.match(found.why, /^No server answers on port 1\b/);
  assert.equal(found.command, "tabhub start");
});

test("what answers is recognised by its proof, and never gets the secret", async () => {
  /** @type {[Parameters<typeof listening>[0], RegExp, string][]} */
  const causes = [
    [honest, /the connection will come/, ""],
    [() => ({ proof: "0".repeat(64) }), /does not know the secret/, "tabhub config show --show-secret"],
    [() => ({ status: "ok" }), /is not tabhub/, "tabhub status"],
    [() => null, /is not tabhub/, "tabhub status"],
    [() => "<html>", /is not tabhub/, "tabhub status"],
  ];
  for (const [answer, why, command] of causes)
    await listening(answer, async (port, requests) => {
      stored = { port, secret: SECRET };
      const found = await diagnose(false, "");
      assert.match(found.why, why);
      assert.equal(found.command, command);
      assert.equal(requests.length, 1);
      assert.ok(!hasSecret(requests));
    });
});

test("an extension that knows no server says how to start one", async () => {
  stored = {};
  const found = await diagnose(false, "");
  assert.equal(found.isKnown, false);
  assert.match(found.source, /does not know where/);
  assert.match(found.command, /start/);
});

test("with a connection nothing is wrong, unless the versions differ", async () => {
  assert.equal((await diagnose(true, "")).why, "");
  assert.equal((await diagnose(true, "The server is older.")).why, "The server is older.");
  assert.equal((await diagnose(false, "The server is older.")).why, "The server is older.");
});
