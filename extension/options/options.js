/** The options page: where the server is, for an extension that nobody else has told. */

const REFRESH_MS = 2000;

const form = /** @type {HTMLFormElement} */ (document.querySelector("#pairing"));
const state = /** @type {HTMLElement} */ (document.querySelector("#state"));
const port = /** @type {HTMLInputElement} */ (form.elements.namedItem("port"));
const secret = /** @type {HTMLInputElement} */ (form.elements.namedItem("secret"));

async function show() {
  const isOpen = await chrome.runtime.sendMessage("link-state").catch(() => false);
  state.textContent = isOpen ? "Connected to the server." : "Not connected.";
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

void load();
void show();
setInterval(show, REFRESH_MS);
