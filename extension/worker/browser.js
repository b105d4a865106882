/** What the server is told about this browser when the link opens. */

import { readPairing } from "./shared/server-pairing.js";
import { listTabs } from "./shared/known-tabs.js";

const STORED = "instance";

/**
 * @param {() => number} countPanels
 * @param {boolean} [brief] so that even thousands of tabs fit into one message
 */
export async function introduceBrowser(countPanels, brief = false) {
  const { userAgent } = navigator;
  const [name, version] = brandOf(userAgent);
  const kind = (await readPairing())?.isManaged ? "managed" : "personal";
  const instance = await readInstance();
  const tabs = await listTabs(brief);
  // Counted last: what changes from now on is told on the same line, afterwards.
  return { browser: { name, version, userAgent, kind, instance, panels: countPanels() }, tabs };
}

/** New for each run of the browser, as the numbers of its tabs are. */
async function readInstance() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  if (typeof stored === "string") return stored;
  const made = crypto.randomUUID();
  await chrome.storage.session.set({ [STORED]: made });
  return made;
}

/** @param {string} userAgent */
function brandOf(userAgent) {
  const named = /\b(Edg|OPR|Vivaldi|HeadlessChrome|Chrome)\/([\d.]+)/g;
  const found = [...userAgent.matchAll(named)].map(([, name, version]) => [name, version]);
  return found.find(([name]) => name !== "Chrome") ?? found[0] ?? ["unknown", ""];
}
