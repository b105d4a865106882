import assert from "node:assert/strict";
import { test } from "node:test";
import { isProof, keyOf, passFor } from "../../../../extension/worker/link/secret-proof.js";
import { SECRET, hasSecret, honest, listening, proofOf } from "./port-listener.js";

test("the server and the extension prove to each other that they know the secret", async () => {
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
        assert.ok(!hasSecret(requests));
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
