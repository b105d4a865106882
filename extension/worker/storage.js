/** page.storage: what the page's origin keeps in the browser. */

import { unlessDialog } from "./dialogs.js";
import { mainFrame } from "./frames.js";

/** @param {import("./navigation.js").Context<Wire.ReadStorage>} context */
export async function getStorage({ tabId, input, signal }) {
  return unlessDialog(tabId, signal, async () => (await mainFrame(tabId)).ask("storage", input));
}
