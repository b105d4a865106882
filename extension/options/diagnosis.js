/** A refused WebSocket looks like one without an answer; an HTTP request shows the difference. */

const ANSWER_MS = 1500;

/**
 * @param {import("../worker/shared/server-pairing.js").Pairing} pairing
 * @returns {Promise<string>}
 */
export async function whyNot({ port, secret }) {
  const status = await ask(`http://127.0.0.1:${port}/health`, secret);
  if (status === null) return `No server answers on port ${port}. Is tabhub running?`;
  if (status === 401) return `The server on port ${port} refuses the secret: it is wrong.`;
  if (status !== 200) return `What answers on port ${port} is not tabhub.`;
  return "The server answers; the connection will come.";
}

/**
 * @param {string} url
 * @param {string} secret
 */
async function ask(url, secret) {
  try {
    const headers = { Authorization: `Bearer ${secret}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    return (await fetch(url, { headers, signal, cache: "no-store" })).status;
  } catch {
    return null;
  }
}
