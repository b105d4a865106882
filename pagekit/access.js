/**
 * The browser's permission to connect to the person's own machine. A browser asks the person for it
 * only in a window, never in a worker, so the window connects once before the worker does.
 */

const NAMES = ["loopback-network", "local-network-access"];
const PROBE = "tabhub-probe";

/**
 * @param {() => void} changed called when the person changes the permission
 * @returns {Promise<PermissionStatus | undefined>} undefined: this browser needs no permission
 */
export async function permission(changed) {
  for (const name of NAMES) {
    try {
      const status = await navigator.permissions.query(/** @type {any} */ ({ name }));
      status.onchange = changed;
      return status;
    } catch {
      // This browser does not know the permission by this name.
    }
  }
}

/**
 * Opens a test connection, so that the browser asks the person. Resolves when the connection is
 * closed, whether or not the server accepted it.
 * @param {string} url
 */
export function openProbe(url) {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, [PROBE]);
    socket.onclose = resolve;
    socket.onopen = () => socket.close();
  });
}
