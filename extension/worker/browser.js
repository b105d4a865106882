/** What the server is told about this browser when the link opens. */

import { listTabs } from "./tabs.js";

/** @param {boolean} [brief] so that even thousands of tabs fit into one message */
export async function introduceBrowser(brief = false) {
  const { userAgent } = navigator;
  const [name, version] = brandOf(userAgent);
  return { browser: { name, version, userAgent }, tabs: await listTabs(brief) };
}

/** @param {string} userAgent */
function brandOf(userAgent) {
  const named = /\b(Edg|OPR|Vivaldi|HeadlessChrome|Chrome)\/([\d.]+)/g;
  const found = [...userAgent.matchAll(named)].map(([, name, version]) => [name, version]);
  return found.find(([name]) => name !== "Chrome") ?? found[0] ?? ["unknown", ""];
}
