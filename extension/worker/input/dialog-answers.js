/** page.dialog: answers a dialog, a login or a file chooser. */

import { dismissChooser, openChooser } from "../debugger/file-choosers.js";
import { answerLogin, openLogin } from "../debugger/logins.js";
import { answer, openDialog } from "../debugger/page-dialogs.js";
import { dialogIn } from "../debugger/pending-dialogs.js";
import { framesOf } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { requireKnownSite, siteOf } from "../shared/known-tabs.js";
import { NavigationWatch, Watch, effectOf, inTurn, restAfter, takeInterrupted } from "./act.js";

// A server asks for a user name and a password.

/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * @param {Context<Wire.AnswerDialog>} context
 * @returns {Promise<Wire.AnsweredDialog>}
 */
async function login(context) {
  const { tabId, input, site, signal, reportTabChanges } = context;
  const pending = /** @type {import("../debugger/logins.js").Login} */ (openLogin(tabId));
  const credentials = input.action === "accept" ? credentialsOf(input.promptText) : null;
  await requireAllowed(context, siteOf(pending.url));
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  const navigation = new NavigationWatch(tabId);
  try {
    answerLogin(tabId, credentials);
    if (pending.holdsPage) await navigation.loaded();
    const navigated = await navigation.destination();
    await reportTabChanges();
    const again = openLogin(tabId)?.dialog;
    const effect = effectOf({ navigated, mutated: navigated !== undefined, dialog: again });
    return { effect, answered: pending.dialog, trusted: true };
  } finally {
    navigation.stop();
  }
}

/** @param {unknown} text */
function credentialsOf(text) {
  const [, username, password] = /^([^:]*):([\s\S]*)$/.exec(String(text ?? "")) ?? [];
  if (username !== undefined && password !== undefined) return { username, password };
  const message = "Give the user name and the password as promptText: user:password.";
  throw new CommandError("invalid_arguments", message);
}

/**
 * The password goes to the site that asks, whichever page the tab shows.
 * @param {Context} context
 * @param {string} asking
 */
async function requireAllowed({ reach, site }, asking) {
  const allowed = await reach.among([asking], site);
  if (!allowed || allowed.has(asking)) return;
  const message = `${asking} asks, where this tool is not allowed.`;
  throw new CommandError("permission_off", message, { frameSite: asking });
}

const ACTIONS = new Set(["accept", "dismiss"]);

/**
 * The debugger is attached already, or the dialog would not be known. (Do not attach again: the
 * page answers nothing now.)
 * @param {Context<Wire.AnswerDialog>} context
 */
export async function answerDialog(context) {
  const { tabId, input, site } = context;
  const { action, promptText } = input;
  if (!ACTIONS.has(action)) {
    throw new CommandError("invalid_arguments", "action must be accept or dismiss.");
  }
  return inTurn(context, async () => {
    requireConfirmedDialog(input.confirmed, dialogIn(tabId));
    const dialog = openDialog(tabId);
    if (!dialog && openChooser(tabId)) return answerChooser(context);
    if (!dialog && openLogin(tabId)) return login(context);
    if (!dialog) throw new CommandError("no_dialog", "The page shows no dialog.");
    const watch = watchOf(context);
    requireKnownSite(tabId, site);
    await answer(tabId, action === "accept", promptText);
    const stays = dialog.type === "beforeunload" && action === "dismiss";
    const outcome = await afterAnswer(context, watch, stays);
    await context.reportTabChanges();
    return { effect: effectOf(outcome), answered: dialog, trusted: true };
  });
}

/**
 * The person has said yes to an answer to one dialog. A page can close it and open another.
 * @param {Wire.ConfirmedDialog | undefined} confirmed
 * @param {Wire.Dialog | undefined} now
 */
function requireConfirmedDialog(confirmed, now) {
  if (!confirmed) return;
  const isSame =
    now?.type === confirmed.type &&
    now.message === confirmed.message &&
    now.defaultPrompt === confirmed.defaultPrompt;
  if (isSame) return;
  const what = now ? "shows another one now" : "shows none any more";
  const message = `Nothing was done: the person was asked about a dialog, and the page ${what}.`;
  throw new CommandError("target_changed", message);
}

/**
 * Files are given by page.upload; here a file chooser can only be dismissed.
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

/** @param {Context<Wire.AnswerDialog>} context */
function watchOf(context) {
  const before = takeInterrupted(context.tabId);
  if (before) return before;
  const [frame] = framesOf(context.tabId);
  return frame && new Watch(frame, context);
}

/**
 * @param {Context} context
 * @param {Watch | undefined} watch
 * @param {boolean} stays whether the page was kept from navigating
 * @returns {Promise<import("./act.js").Outcome>}
 */
async function afterAnswer(context, watch, stays) {
  if (watch && !stays) return restAfter(context, watch, async () => {});
  watch?.stop();
  return { mutated: false, dialog: openDialog(context.tabId) };
}
