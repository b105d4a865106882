/**
 * Whether this page may reach the person's own machine. A browser asks the person about that only
 * for a window, never for a worker: so the window knocks first.
 */

import { on } from "./events.js";

const NAMES = ["loopback-network", "local-network-access"];
const PROBE = "tabhub-probe";

/**
 * @param {() => void} changed called when the person changes their mind
 * @returns {Promise<PermissionStatus | undefined>} undefined: this browser does not ask
 */
export async function permission(changed) {
  for (const name of NAMES) {
    try {
      const found = await navigator.permissions.query(/** @type {any} */ ({ name }));
      on(found, "change", changed);
      return found;
    } catch {
      // It has another name here, or none.
    }
  }
}

/**
 * Ends when the person has answered, and the server too or not.
 * @param {string} url
 */
export function knock(url) {
  return new Promise((ended) => {
    const socket = new WebSocket(url, [PROBE]);
    on(socket, "close", ended);
    on(socket, "open", () => socket.close());
  });
}
