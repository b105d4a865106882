/** page.dialog: answering what a page asks. */

import { effectOf, inTurn, restAfter, takeInterrupted } from "./act.js";
import { login } from "../login.js";
import { openLogin } from "../debugger/logins.js";
import { dismissChooser, openChooser } from "../debugger/file-choosers.js";
import { answer, openDialog } from "../debugger/page-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { framesOf } from "../frames/frames.js";
import { settleOf, Watch } from "../settle.js";
import { requireKnownSite } from "../sites.js";

/** @import { Context } from "../tabs/navigation.js" */

const ACTIONS = new Set(["accept", "dismiss"]);

/**
 * The debugger is on the tab already, or the dialog would not be known. (It must not be taken
 * anew: the page answers nothing now.)
 * @param {Context<Wire.AnswerDialog>} context
 */
export async function answerDialog(context) {
  const { tabId, input, site } = context;
  const { action, promptText } = input;
  if (!ACTIONS.has(action)) {
    throw new CommandError("invalid_arguments", "action must be accept or dismiss.");
  }
  return inTurn(context, async () => {
    const dialog = openDialog(tabId);
    if (!dialog && openChooser(tabId)) return answerChooser(context);
    if (!dialog && openLogin(tabId)) return login(context);
    if (!dialog) throw new CommandError("no_dialog", "The page shows no dialog.");
    const watch = watchOf(tabId, settleOf(input));
    requireKnownSite(tabId, site);
    await answer(tabId, action === "accept", promptText);
    const stays = dialog.type === "beforeunload" && action === "dismiss";
    const outcome = await afterAnswer(context, watch, stays);
    await context.tellNews();
    return { effect: effectOf(outcome), answered: dialog, trusted: true };
  });
}

/**
 * A file chooser is answered with files, elsewhere; here it can only be dismissed.
 * @param {Context<Wire.AnswerDialog>} context
 */
async function answerChooser({ tabId, input, site }) {
  if (input.action !== "dismiss") {
    const message = "A file chooser is answered by browser_upload_files without a target.";
    throw new CommandError("invalid_arguments", message);
  }
  requireKnownSite(tabId, site);
  const answered = /** @type {Wire.Dialog} */ (await dismissChooser(tabId));
  return { effect: effectOf({ mutated: false }), answered, trusted: false };
}

/**
 * @param {number} tabId
 * @param {number} ms
 */
function watchOf(tabId, ms) {
  const before = takeInterrupted(tabId);
  if (before) return before;
  const [frame] = framesOf(tabId);
  return frame && new Watch(frame, ms);
}

/**
 * @param {Context} context
 * @param {Watch | undefined} watch
 * @param {boolean} stays whether the page was kept from going where it meant to
 * @returns {Promise<import("./act.js").Outcome>}
 */
async function afterAnswer(context, watch, stays) {
  if (watch && !stays) return restAfter(context, watch, async () => {});
  watch?.stop();
  return { mutated: false, dialog: openDialog(context.tabId) };
}
