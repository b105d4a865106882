/** The options page: the person enters the server's port and secret, if tabhub has not set them. */

import { readPairing } from "../worker/shared/server-pairing.js";
import { whyNot } from "./diagnosis.js";
import { readyRemoteForm, showRemote } from "./remote-form.js";

const REFRESH_MS = 2000;

const form = /** @type {HTMLFormElement} */ (document.querySelector("#pairing"));
const port = /** @type {HTMLInputElement} */ (form.elements.namedItem("port"));
const secret = /** @type {HTMLInputElement} */ (form.elements.namedItem("secret"));

/**
 * @param {string} id
 * @param {string} text
 */
function say(id, text) {
  const place = /** @type {HTMLElement} */ (document.getElementById(id));
  // A screen reader reads a text aloud each time it is set.
  if (place.textContent !== text) place.textContent = text;
}

async function show() {
  const pairing = await readPairing();
  const { isOpen, mismatch, remote } = await linkState();
  if (remote) showRemote(remote);
  say("state", isOpen ? "Connected to the server." : "Not connected.");
  say("why", mismatch || (isOpen || !pairing ? "" : await whyNot(pairing)));
  say("source", sourceOf(pairing));
}

/** @typedef {import("../worker/shared/remote-settings.js").RemoteState} RemoteState */

/** @returns {Promise<{isOpen: boolean, mismatch: string, remote?: RemoteState}>} */
async function linkState() {
  const asked = chrome.runtime.sendMessage("link-state");
  return asked.catch(() => ({ isOpen: false, mismatch: "" }));
}

/** @param {Awaited<ReturnType<typeof readPairing>>} pairing */
function sourceOf(pairing) {
  if (!pairing) return "This extension does not know where the server is.";
  const where = `port ${pairing.port}`;
  return pairing.isPackaged
    ? `In use: what tabhub wrote into the extension's folder (${where}). What is entered below is not used.`
    : `In use: what was entered below (${where}).`;
}

async function load() {
  const stored = await chrome.storage.local.get(["port", "secret"]);
  if (stored.port) port.value = String(stored.port);
  if (typeof stored.secret === "string") secret.value = stored.secret;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await chrome.storage.local.set({ port: port.valueAsNumber, secret: secret.value.trim() });
  await show();
});

readyRemoteForm(() => void show());
void load();
void show();
setInterval(show, REFRESH_MS);
