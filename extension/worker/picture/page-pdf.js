/** page.pdf: the page as it would be printed. */

import { inTurnWithTab } from "../input/act.js";
import { send } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { whileAllShown } from "./hidden-frames.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { within } from "../shared/timing.js";

const PRINT_MS = 25_000;

/** @param {import("../shared/command-context.d.ts").Context<Wire.PrintPdf>} context */
export async function printPdf(context) {
  const { tabId, input, site, signal } = context;
  const { landscape = false, printBackground = true, scale = 1, pageRanges = "" } = input;
  const params = { landscape, printBackground, scale, pageRanges };
  return inTurnWithTab(context, () =>
    unlessDialog(tabId, signal, async () => {
      const print = () => within(PRINT_MS, send(tabId, "Page.printToPDF", params)).catch(explain);
      const { data } = await whileAllShown(context, print);
      requireKnownSite(tabId, site);
      return { data };
    }),
  );
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function explain(error) {
  if (error instanceof CommandError) throw error;
  const message = `The page could not be printed: ${messageOf(error)}`;
  throw new CommandError("invalid_arguments", message);
}
