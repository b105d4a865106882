import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { isProof, keyOf, passFor } from "../../../../extension/worker/link/secret-proof.js";

const SECRET = "5ec" + "0".repeat(61);

/** @param {string} text */
const proofOf = (text) => createHmac("sha256", SECRET).update(text).digest("hex");

/**
 * @param {(challenge: string, port: number) => unknown} answer
 * @param {(port: number, requests: import("node:http").IncomingMessage[]) => Promise<void>} work
 */
async function listening(answer, work) {
  /** @type {import("node:http").IncomingMessage[]} */
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const { port } = /** @type {any} */ (server.address());
    const challenge = new URL(request.url ?? "", "http://x").searchParams.get("challenge") ?? "";
    response.end(JSON.stringify(answer(challenge, port)));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(undefined)));
  const { port } = /** @type {any} */ (server.address());
  await work(port, requests).finally(() => server.close());
}

test("the server and the extension prove to each other that they know the secret", async () => {
  const honest = (/** @type {string} */ word, /** @type {number} */ port) => ({
    proof: proofOf(`tabhub:${port}:${word}`),
  });
  await listening(honest, async (port) => {
    const [kind, word, answer] = (await passFor({ port, secret: SECRET }))?.split(".") ?? [];
    assert.equal(kind, "once");
    assert.equal(answer, proofOf(`tabhub-link:${port}:${word}`));
    assert.equal(await passFor({ port, secret: "another" }), null);
  });
});

test("another program on the port gets a challenge, and never the secret", async () => {
  for (const reply of [{}, { proof: "0".repeat(64) }, { proof: 1 }, { status: "ok" }, null, []]) {
    await listening(
      () => reply,
      async (port, requests) => {
        const pass = await passFor({ port, secret: SECRET }).catch(() => null);
        assert.equal(pass, null);
        assert.equal(requests.length, 1);
        assert.ok(!JSON.stringify([requests[0].url, requests[0].rawHeaders]).includes(SECRET));
      },
    );
  }
});

test("another server's answer is no proof: the port is part of it", async () => {
  const text = "tabhub:1:word";
  const key = await keyOf(SECRET);
  assert.equal(await isProof(proofOf(text), key, text), true);
  assert.equal(await isProof(proofOf(text), key, "tabhub:2:word"), false);
});
