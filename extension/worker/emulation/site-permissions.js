/**
 * page.permission: what a site may do without asking. The browser stores this by site, not by tab,
 * so it can be set only in a browser that tabhub started, and lasts as long as the tab.
 */

import { send, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { readPairing } from "../shared/server-pairing.js";
import { getTab, requireKnownSite } from "../shared/known-tabs.js";
import { register } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";

const STORED = "presets";
const LOOK_MS = 2000;
/** The names that callers and pages use, and the browser's. */
const NAMES = /** @type {const} */ ({
  geolocation: "location",
  notifications: "notifications",
  camera: "camera",
  microphone: "microphone",
});

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {keyof typeof NAMES} Name */
/** @typedef {{tabId: number, origin: string, name: Name, setting: "allow" | "block" | "ask"}} Preset */

/** @type {Preset[]} */
let presets = [];

/** Settings outlive the browser; the tabs that they were made for do not. */
async function restorePresets() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  if (Array.isArray(stored)) presets = stored;
  else await keep([], Object.keys(NAMES));
}

/** @param {Context<Wire.SetPermission>} context */
export async function setPermission(context) {
  const { tabId, input, site, signal } = context;
  const { name, setting } = input;
  return unlessDialog(tabId, signal, async (live) => {
    const origin = await originOf(tabId);
    if ((await readPairing())?.isManaged) {
      live.throwIfAborted();
      requireKnownSite(tabId, site);
      const others = presets.filter((preset) => !isSame(preset, { tabId, origin, name }));
      await keep([...others, { tabId, origin, name, setting }], [name]);
    }
    return { origin, state: await stateOf(tabId, name) };
  });
}

/**
 * @param {Preset} preset
 * @param {{tabId: number, origin: string, name: string}} other
 */
function isSame(preset, { tabId, origin, name }) {
  return preset.tabId === tabId && preset.origin === origin && preset.name === name;
}

/** @param {number} tabId */
async function originOf(tabId) {
  const { url = "" } = await getTab(tabId);
  const { origin, protocol } = new URL(url || "about:blank");
  if (protocol === "http:" || protocol === "https:") return origin;
  throw new CommandError("invalid_arguments", "Only a site, http or https, has permissions.");
}

/**
 * @param {Preset[]} next
 * @param {string[]} names whose settings are written again: a single one cannot be removed
 */
async function keep(next, names) {
  presets = next;
  await chrome.storage.session.set({ [STORED]: presets });
  // The package of a store has it not: it is for browsers that tabhub started.
  if (!chrome.contentSettings) return;
  for (const name of /** @type {Name[]} */ (names)) {
    const content = chrome.contentSettings[NAMES[name]];
    await content.clear({});
    for (const preset of presets.filter((one) => one.name === name)) await write(content, preset);
  }
}

/**
 * @param {any} content
 * @param {Preset} preset
 */
async function write(content, { origin, setting }) {
  try {
    await content.set({ primaryPattern: `${origin}/*`, setting });
  } catch (error) {
    throw new CommandError("invalid_arguments", `The browser refuses it: ${messageOf(error)}`);
  }
}

/**
 * As the page sees it.
 * @param {number} tabId
 * @param {string} name
 */
async function stateOf(tabId, name) {
  const expression = `navigator.permissions.query({ name: ${JSON.stringify(name)} }).then((found) => found.state)`;
  const asked = { expression, awaitPromise: true, returnByValue: true };
  const answer = await withTab(tabId, () =>
    within(LOOK_MS, send(tabId, "Runtime.evaluate", asked)),
  );
  return answer.result?.value ?? "unknown";
}

/** @param {number} tabId */
async function forgetPresets(tabId) {
  const gone = presets.filter((preset) => preset.tabId === tabId);
  if (!gone.length) return;
  const names = new Set(gone.map(({ name }) => name));
  const others = presets.filter((preset) => preset.tabId !== tabId);
  await keep(others, [...names]);
}

register({
  name: "permissions set beforehand",
  restore: restorePresets,
  forget: forgetPresets,
  released: forgetPresets,
  describe: () => presets,
});
