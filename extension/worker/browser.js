/** What the server is told about this browser when the link opens. */

import { listTabs } from "./tabs.js";

export async function introduceBrowser() {
  const { userAgent } = navigator;
  const [name, version] = brandOf(userAgent);
  return { browser: { name, version, userAgent }, tabs: await listTabs() };
}

/** @param {string} userAgent */
function brandOf(userAgent) {
  const named = /\b(Edg|OPR|Vivaldi|HeadlessChrome|Chrome)\/([\d.]+)/g;
  const found = [...userAgent.matchAll(named)].map(([, name, version]) => [name, version]);
  return found.find(([name]) => name !== "Chrome") ?? found[0] ?? ["unknown", ""];
}
