import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const { codeOf, pairByCode } = await import("../../../extension/panel/forms/code-pairing.js");
const { bytesOf, hex } = await import("../../../extension/worker/shared/hex.js");

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const encoder = new TextEncoder();
const PORT = 9515;
let asked;
const signal = () => new AbortController().signal;
const answer = (body, ok = true) => ({ ok, json: async () => body });

beforeEach(() => {
  asked = [];
});

/** A server that seals with the key that it has agreed on, or with another one. */
async function serve({ secret = "s", port = PORT, wrongKey = false } = {}) {
  const own = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
  const key = hex(await crypto.subtle.exportKey("raw", own.publicKey));
  const seal = async () => {
    const other = wrongKey
      ? (await crypto.subtle.generateKey(CURVE, true, ["deriveBits"])).publicKey
      : await crypto.subtle.importKey("raw", bytesOf(asked[1].key), CURVE, true, []);
    const shared = await crypto.subtle.deriveBits(
      { name: "ECDH", public: other },
      own.privateKey,
      256,
    );
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const root = await crypto.subtle.importKey("raw", shared, hmac, false, ["sign"]);
    const text = encoder.encode(`tabhub-pairing-key:${PORT}`);
    const bytes = await crypto.subtle.sign("HMAC", root, text);
    const aes = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt"]);
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const plain = encoder.encode(JSON.stringify({ port, secret }));
    const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, aes, plain);
    return { sealed: { iv: hex(iv), data: hex(data) } };
  };
  let polls = 0;
  globalThis.fetch = async (url, { body }) => {
    asked.push(JSON.parse(body));
    if (asked.length === 1) return answer({ id: "1", key });
    if (asked.length === 2) return answer({ seconds: 180 });
    return answer(polls++ ? await seal() : { sealed: null });
  };
  return key;
}

test("the code is that of the server, by the same keys", async () => {
  assert.equal(await codeOf(9515, "0a", "0b", "0c"), "GPLJTD");
});

test("the key is revealed after the server's, and is the one that was announced", async () => {
  const serverKey = await serve({ secret: "abc" });
  let code = "";
  const pairing = await pairByCode(PORT, (shown) => (code = shown), signal());
  assert.deepEqual(pairing, { port: PORT, secret: "abc" });
  const [{ commitment }, { key, nonce }] = asked;
  const digest = await crypto.subtle.digest("SHA-256", encoder.encode(`${key}:${nonce}`));
  assert.equal(hex(digest), commitment);
  assert.equal(code, await codeOf(PORT, key, serverKey, nonce));
  assert.deepEqual(Object.keys(asked[0]), ["commitment"]);
});

test("what another key has sealed is not taken", async () => {
  await serve({ wrongKey: true });
  await assert.rejects(
    pairByCode(PORT, () => {}, signal()),
    /cannot be read/,
  );
});

test("a secret for another port is not taken", async () => {
  await serve({ port: 1 });
  await assert.rejects(
    pairByCode(PORT, () => {}, signal()),
    /cannot be read/,
  );
});

test("what is wrong is said", async () => {
  globalThis.fetch = async () => Promise.reject(new TypeError("failed"));
  await assert.rejects(
    pairByCode(PORT, () => {}, signal()),
    /No server answers on port 9515/,
  );
  globalThis.fetch = async () => answer({ error: { message: "Too many" } }, false);
  await assert.rejects(
    pairByCode(PORT, () => {}, signal()),
    /Too many/,
  );
});
