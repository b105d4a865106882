import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { isProof, keyOf, passFor } from "../../../../extension/worker/link/secret-proof.js";

const SECRET = "5ec" + "0".repeat(61);

/** @param {string} told */
const proofOf = (told) => createHmac("sha256", SECRET).update(told).digest("hex");

/**
 * @param {(challenge: string, port: number) => unknown} answer
 * @param {(port: number, asked: import("node:http").IncomingMessage[]) => Promise<void>} work
 */
async function listening(answer, work) {
  /** @type {import("node:http").IncomingMessage[]} */
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const { port } = /** @type {any} */ (server.address());
    const challenge = new URL(request.url ?? "", "http://x").searchParams.get("challenge") ?? "";
    response.end(JSON.stringify(answer(challenge, port)));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(undefined)));
  const { port } = /** @type {any} */ (server.address());
  await work(port, asked).finally(() => server.close());
}

test("a server that knows the secret can show it, and is shown that we do", async () => {
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

test("a stranger on the port is asked, and told nothing", async () => {
  for (const told of [{}, { proof: "0".repeat(64) }, { proof: 1 }, { status: "ok" }, null, []]) {
    await listening(
      () => told,
      async (port, asked) => {
        const pass = await passFor({ port, secret: SECRET }).catch(() => null);
        assert.equal(pass, null);
        assert.equal(asked.length, 1);
        assert.ok(!JSON.stringify([asked[0].url, asked[0].rawHeaders]).includes(SECRET));
      },
    );
  }
});

test("another server's answer is no proof: the port is part of it", async () => {
  const told = "tabhub:1:word";
  const key = await keyOf(SECRET);
  assert.equal(await isProof(proofOf(told), key, told), true);
  assert.equal(await isProof(proofOf(told), key, "tabhub:2:word"), false);
});
