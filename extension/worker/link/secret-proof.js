/**
 * Extension and server prove to each other that they know the secret without sending it: between
 * two runs of the server, any program could have taken its port.
 */

const ANSWER_MS = 10_000;
const encoder = new TextEncoder();

/**
 * A pass that opens the server's link once; null if the program on the port does not know the
 * secret.
 * @param {{port: number, secret: string}} identity
 * @returns {Promise<string | null>}
 */
export async function passFor({ port, secret }) {
  const word = crypto.randomUUID();
  const proof = await askForProof(port, word);
  const key = await keyOf(secret);
  if (!(await isProof(proof, key, `tabhub:${port}:${word}`))) return null;
  const text = encoder.encode(`tabhub-link:${port}:${word}`);
  return `once.${word}.${hex(await crypto.subtle.sign("HMAC", key, text))}`;
}

/** @param {string} secret */
export function keyOf(secret) {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["sign", "verify"]);
}

/** @param {ArrayBuffer} bytes */
function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {number} port
 * @param {string} challenge
 * @returns {Promise<unknown>}
 */
async function askForProof(port, challenge) {
  const answer = await fetch(`http://127.0.0.1:${port}/health?challenge=${challenge}`, {
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  return answer.ok ? (await answer.json()).proof : undefined;
}

/**
 * @param {unknown} proof
 * @param {CryptoKey} key
 * @param {string} text the text that was signed
 */
export async function isProof(proof, key, text) {
  if (typeof proof !== "string" || !/^[0-9a-f]{64}$/.test(proof)) return false;
  const bytes = Uint8Array.from(proof.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.verify("HMAC", key, bytes, encoder.encode(text));
}
