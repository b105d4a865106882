/** page.storage: what the page's origin keeps in the browser. */

import { unlessDialog } from "./debugger/page-dialogs.js";
import { mainFrame } from "./frames/frames.js";

/** @param {import("./tabs/navigation.js").Context<Wire.ReadStorage>} context */
export async function getStorage({ tabId, input, signal }) {
  return unlessDialog(tabId, signal, async () => (await mainFrame(tabId)).ask("storage", input));
}
