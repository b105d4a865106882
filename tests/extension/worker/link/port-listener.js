/** A program on a port of this machine, which keeps what it is asked. */

import { createHmac } from "node:crypto";
import { createServer } from "node:http";

export const SECRET = "5ec" + "0".repeat(61);

/** @param {string} text */
export const proofOf = (text) => createHmac("sha256", SECRET).update(text).digest("hex");

/**
 * What the server answers.
 * @param {string} challenge
 * @param {number} port
 */
export const honest = (challenge, port) => ({ proof: proofOf(`tabhub:${port}:${challenge}`) });

/**
 * @param {(challenge: string, port: number) => unknown} answer a string is sent as it is
 * @param {(port: number, requests: import("node:http").IncomingMessage[]) => Promise<void>} work
 */
export async function listening(answer, work) {
  /** @type {import("node:http").IncomingMessage[]} */
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const { port } = /** @type {any} */ (server.address());
    const challenge = new URL(request.url ?? "", "http://x").searchParams.get("challenge") ?? "";
    const found = answer(challenge, port);
    response.end(typeof found === "string" ? found : JSON.stringify(found));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", () => ready(undefined)));
  const { port } = /** @type {any} */ (server.address());
  await work(port, requests).finally(() => server.close());
}

/** @param {import("node:http").IncomingMessage[]} requests */
export const hasSecret = (requests) =>
  requests.some(({ url, rawHeaders }) => JSON.stringify([url, rawHeaders]).includes(SECRET));
