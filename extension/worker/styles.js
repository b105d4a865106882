/** page.styles: how an element looks, as the browser computes it. */

import { unlessDialog } from "./dialogs.js";
import { askMinting } from "./frames.js";
import { wordsOr } from "./sizes.js";
import { findTarget } from "./target.js";

/** @param {import("./navigation.js").Context<Wire.ElementStyles>} context */
export function elementStyles({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const { frame, how } = await findTarget(tabId, input, reach);
    return askMinting(frame, "styles", { how, properties: wordsOr(input.properties) });
  });
}
