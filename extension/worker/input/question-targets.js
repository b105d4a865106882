/**
 * page.target, page.receiver and page.shownDialog: what an action would be done to, so that a person
 * can be asked about it. Nothing in the page changes.
 */

import { openChooser } from "../debugger/file-choosers.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { dialogIn } from "../debugger/pending-dialogs.js";
import { CommandError } from "../shared/command-errors.js";
import { lookAt, lookIn } from "./asked-targets.js";
import { chooserPlace, noChooser } from "./file-upload.js";
import { seek } from "./found-target.js";
import { receivingFrame } from "./key-target.js";

/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * @param {Context<Wire.SeekTargets>} context
 * @returns {Promise<Wire.AskedTargets>}
 */
export async function seekTargets(context) {
  const targets = [];
  for (const { kind, ...place } of context.input.places) {
    targets.push(await lookAt(context, await named(context, place, kind ?? "")));
  }
  return { targets };
}

/**
 * What words mean, by its ref; everything else as it is.
 * @param {Context<any>} context
 * @param {Wire.Place} place
 * @param {string} kind
 * @returns {Promise<Wire.Place>}
 */
async function named(context, { find, ...place }, kind) {
  return find === undefined ? place : { ref: (await seek(context, find, kind)).ref };
}

/**
 * What an action that names nothing would be done to.
 * @param {Context<Wire.SeekReceiver>} context
 * @returns {Promise<Wire.AskedTarget>}
 */
export async function seekReceiver(context) {
  const { tabId, signal, reach, input } = context;
  return unlessDialog(tabId, signal, async () => {
    if (input.of === "chooser") {
      if (!openChooser(tabId)) throw noChooser();
      const { frame, how } = await chooserPlace(context);
      return lookIn(context, frame, how);
    }
    const frame = await receivingFrame(tabId);
    reach.require(frame);
    return lookIn(context, frame, { isFocus: true });
  });
}

/**
 * @param {Context<Wire.NoInput>} context
 * @returns {Promise<Wire.ConfirmedDialog>}
 */
export async function seekDialog({ tabId }) {
  const dialog = dialogIn(tabId);
  if (!dialog) throw new CommandError("no_dialog", "The page shows no dialog.");
  const { type, message, defaultPrompt } = dialog;
  return { type, message, ...(defaultPrompt !== undefined && { defaultPrompt }) };
}
