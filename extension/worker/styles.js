/** page.styles: how an element looks, as the browser computes it. */

import { unlessDialog } from "./debugger/page-dialogs.js";
import { askMinting } from "./frames/frames.js";
import { wordsOr } from "./shared/number-limits.js";
import { findTarget } from "./input/targets.js";

/** @param {import("./tabs/navigation.js").Context<Wire.ElementStyles>} context */
export function elementStyles({ tabId, input, signal, reach }) {
  return unlessDialog(tabId, signal, async () => {
    const { frame, how } = await findTarget(tabId, input, reach);
    return askMinting(frame, "styles", { how, properties: wordsOr(input.properties) });
  });
}
