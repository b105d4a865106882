/** An agent has left a tab, or a person has taken it back: what was put upon it ends. */

import { releaseAll } from "./shared/tab-state.js";

const LET_GO_MS = 2000;

/** @param {number} tabId */
export async function letGo(tabId) {
  await releaseAll(tabId, LET_GO_MS);
}

/** @param {import("./tabs/navigation.js").Context} context */
export async function releaseTab({ tabId }) {
  await letGo(tabId);
  return {};
}
