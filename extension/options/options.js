/** The options page: the server's port and secret, and the service for remote access. */

import { byId, patch, say } from "../panel/dom.js";
import { restWhatMoved } from "../panel/press-delay.js";
import { serverForm } from "../panel/forms/server-form.js";
import { serviceForm } from "../panel/forms/service-form.js";
import { remoteText } from "../worker/shared/remote-settings.js";

const REFRESH_MS = 2000;

/** @typedef {import("../worker/shared/remote-settings.js").RemoteState} RemoteState */
/** @typedef {{isOpen: boolean, remote?: RemoteState, diagnosis?: Diagnosis}} LinkState */

/** @type {LinkState} */
let link = { isOpen: false };

function paint() {
  patch(
    byId("server"),
    serverForm(() => void show(), paint),
  );
  patch(
    byId("service"),
    serviceForm(link.remote !== undefined && link.remote.state !== "none", paint),
  );
  restWhatMoved();
}

async function show() {
  link = await chrome.runtime.sendMessage("link-state").catch(() => ({ isOpen: false }));
  const { isOpen, remote, diagnosis } = link;
  say(byId("state"), isOpen ? "Connected to the server." : "Not connected.");
  say(byId("why"), diagnosis?.why ?? "");
  say(byId("source"), diagnosis?.source ?? "");
  if (remote) say(byId("remote-state"), remoteText(remote));
  paint();
}

async function load() {
  const { port, secret } = await chrome.storage.local.get(["port", "secret"]);
  const fields = /** @type {HTMLFormElement} */ (byId("pairing-form")).elements;
  const portField = /** @type {HTMLInputElement} */ (fields.namedItem("port"));
  const secretField = /** @type {HTMLInputElement} */ (fields.namedItem("secret"));
  if (port) portField.value = String(port);
  if (typeof secret === "string") secretField.value = secret;
}

paint();
void load();
void show();
setInterval(show, REFRESH_MS);
