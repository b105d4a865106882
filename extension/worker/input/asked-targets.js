/**
 * What a person is asked about: an element under the name that the page gives it. After their yes
 * nothing is done to another one.
 */

import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting } from "../frames/frames.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { findPlace, isPoint } from "./targets.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * The element at a place.
 * @param {Context<any>} context
 * @param {Wire.Place} named by ref, selector or point
 * @returns {Promise<Wire.AskedTarget>}
 */
export async function lookAt(context, named) {
  const look = async () => {
    const { frame, how } = await findPlace(context, named);
    return lookIn(context, frame, how);
  };
  return unlessDialog(context.tabId, context.signal, () =>
    look().catch((error) => {
      // The question may be older than the worker, and the page may just be connecting to it.
      if (error instanceof CommandError && error.reason === "navigated_away") return look();
      throw error;
    }),
  );
}

/**
 * @param {Context<any>} context
 * @param {Frame} frame
 * @param {object} how its document finds it: also `isFocus` and `isShown`
 * @returns {Promise<Wire.AskedTarget>}
 */
export async function lookIn({ site }, frame, how) {
  const { ref, ...rest } = await askMinting(frame, "asked", how);
  const where = frame.site === site ? {} : { site: frame.site };
  return { ...rest, ref: `ref_${ref}`, ...where };
}

/** @type {Set<import("../shared/command-errors.js").Reason>} why there is no such element now */
const GONE = new Set(["stale_ref", "element_not_found", "detached", "not_visible"]);

/**
 * The person has said yes to one element under one name. Pages use elements again for other things.
 * What a command without a place acts on is found, and compared, by the command itself.
 * @param {Context<any>} context
 * @param {Wire.Place} place
 */
export async function requireConfirmed(context, { confirmed, ...place }) {
  if (!confirmed || !isNamed(place)) return;
  const now = await lookAt(context, place).catch((error) => {
    if (error instanceof CommandError && GONE.has(error.reason)) return null;
    throw error;
  });
  requireSame(confirmed, now);
}

/** @param {Wire.Place} place */
export function isNamed(place) {
  return place.ref !== undefined || place.selector !== undefined || isPoint(place);
}

/**
 * @param {Wire.ConfirmedTarget} confirmed
 * @param {Wire.AskedTarget | null} now
 */
export function requireSame(confirmed, now) {
  const what = difference(confirmed, now);
  if (!what) return;
  const was = quoted(`${confirmed.role} ${JSON.stringify(confirmed.name)}`);
  const message = `Nothing was done: the person was asked about ${was}, which ${what}. Read the page again.`;
  throw new CommandError("target_changed", message);
}

/**
 * @param {Wire.ConfirmedTarget} then
 * @param {Wire.AskedTarget | null} now
 * @returns {string} empty if there is none
 */
function difference(then, now) {
  if (now?.ref !== then.ref) return "is not there any more";
  if (now.role !== then.role || now.name !== then.name) return "has another name now";
  return now.position === then.position ? "" : "was moved, or leads elsewhere now";
}
