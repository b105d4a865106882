/**
 * Whether this page may reach the person's own machine. A browser asks the person about that only
 * for a window, never for a worker: so the window knocks first.
 */

import { on } from "./events.js";

const NAMES = ["loopback-network", "local-network-access"];
const PROBE = "tabhub-probe";

/**
 * @param {string} url
 * @param {() => void} changed called when the person changes their mind later
 */
export async function mayConnect(url, changed) {
  const permission = await asked();
  if (permission) on(permission, "change", changed);
  if (permission?.state === "prompt") await knock(url);
  return permission?.state !== "denied";
}

/** @returns {Promise<PermissionStatus | undefined>} undefined: this browser does not ask */
async function asked() {
  for (const name of NAMES) {
    try {
      return await navigator.permissions.query({ name: /** @type {PermissionName} */ (name) });
    } catch {
      // It has another name here, or none.
    }
  }
}

/**
 * Ends when the person has answered, and the server too or not.
 * @param {string} url
 */
function knock(url) {
  return new Promise((ended) => {
    const socket = new WebSocket(url, [PROBE]);
    on(socket, "close", ended);
    on(socket, "open", () => socket.close());
  });
}
