/**
 * Whether whoever listens at a port knows our secret: only then is it sent there. Between two runs
 * of the server any program could have taken its port.
 */

const ANSWER_MS = 3000;
const encoder = new TextEncoder();

/**
 * @param {{port: number, secret: string}} identity
 * @returns {Promise<boolean>}
 */
export async function knowsSecret({ port, secret }) {
  const challenge = crypto.randomUUID();
  const proof = await askForProof(port, challenge);
  return proof !== undefined && isProof(proof, secret, `tabhub:${port}:${challenge}`);
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
 * @param {string} secret
 * @param {string} told
 */
export async function isProof(proof, secret, told) {
  if (typeof proof !== "string" || !/^[0-9a-f]{64}$/.test(proof)) return false;
  const bytes = Uint8Array.from(proof.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), hmac, false, ["verify"]);
  return crypto.subtle.verify("HMAC", key, bytes, encoder.encode(told));
}
