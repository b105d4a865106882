/** page.press and page.type: keys for an element, or for whatever has the focus. */

import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { askMinting, framesOf, mainFrame } from "../frames/frames.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { requireKnownSite, requireStay } from "../shared/known-tabs.js";
import { actAndRest, effectOf, find, inTurnWithHand, marked, untilIdle } from "./act.js";
import { isNamed, lookIn, requireSame } from "./asked-targets.js";
import { askWithEditor } from "./editor-text.js";
import { focusedDocument, trustOf } from "./hand.js";
import { modifierBits, strokesOf, typedStroke } from "./key-strokes.js";
import { toCompare } from "./targets.js";
import { KeyTarget, blocked, isSecretMeant, meantFrame } from "./key-target.js";

// How a text is typed: as keys where the keyboard has them, inserted where it does not.

/** Longer texts are inserted line by line, as if pasted. */
const LONGEST_TYPED = 300;

/** @typedef {import("./key-target.js").Piece} Piece */

/**
 * @param {string} text
 * @param {boolean} canInsert whether the focused element is a text field
 * @returns {Piece[]}
 */
export function piecesOf(text, canInsert) {
  const lines = text.replace(/\r\n?/g, "\n");
  const isLong = lines.length > LONGEST_TYPED;
  if (isLong && !canInsert) throw tooLong();
  const parts = isLong ? lines.split(/(\n)/).filter(Boolean) : [...lines];
  return joined(parts.map((part) => typedStroke(part) ?? requireInsert(part, canInsert)));
}

/**
 * @param {string} part
 * @param {boolean} canInsert
 */
function requireInsert(part, canInsert) {
  if (canInsert) return part;
  const message = `What has the focus is no field for text, and no key writes "${part}".`;
  throw new CommandError("invalid_arguments", message);
}

/**
 * What is inserted at once: a letter and its accent belong together.
 * @param {Piece[]} pieces
 * @returns {Piece[]}
 */
function joined(pieces) {
  /** @type {Piece[]} */
  const result = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (typeof piece === "string" && typeof last === "string")
      result[result.length - 1] = last + piece;
    else result.push(piece);
  }
  return result;
}

function tooLong() {
  const message = `What has the focus is no field for text: give at most ${LONGEST_TYPED} characters.`;
  return new CommandError("invalid_arguments", message);
}

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Handed } from "./hand.js" */
/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./editor-text.js").Answer} FieldState */
/** @typedef {{sensitive: boolean, isText?: boolean}} Ready what has the focus */

/** @param {Context<Wire.Press>} context */
export async function press(context) {
  const { input } = context;
  const strokes = strokesOf(input.key, modifierBits(input.modifiers), input.repeat);
  return inTurnWithHand(context, async (handed) =>
    withFocus(handed, ({ frame, how }) =>
      sendKeys(
        handed,
        frame,
        () => frame.ask("focus", how),
        () => strokes,
        "pressed",
      ),
    ),
  );
}

/**
 * Types into whatever has the focus, as at a keyboard.
 * @param {Context<Wire.Type>} context
 */
export async function type(context) {
  const { text } = context.input;
  if (typeof text !== "string" || !text) {
    throw new CommandError("invalid_arguments", "text is missing.");
  }
  return inTurnWithHand(context, async (handed) =>
    withFocus({ ...handed, input: {} }, ({ frame }) => {
      const focus = () => frame.ask("typing", {});
      const pieces = (/** @type {Ready} */ { isText }) => piecesOf(text, Boolean(isText));
      return sendKeys(handed, frame, focus, pieces, "typed");
    }),
  );
}

/**
 * @param {Handed<Wire.Press | Wire.Type>} context
 * @param {Frame} frame
 * @param {() => Promise<Ready>} focus
 * @param {(ready: Ready) => Piece[]} piecesFor
 * @param {"pressed" | "typed"} question
 */
async function sendKeys(context, frame, focus, piecesFor, question) {
  const { hand } = context;
  const target = new KeyTarget(context, frame);
  let sensitive = false;
  /** @type {(_: unknown, live: AbortSignal) => Promise<void>} */
  const act = async (_, live) => {
    const ready = await focus();
    ({ sensitive } = ready);
    await requireConfirmedFocus(context, frame, ready);
    await sendPieces(context, target, piecesFor(ready), ready, live).catch((error) => {
      throw target.counted(error);
    });
  };
  try {
    const how = { ...context, saysValue: true };
    const outcome = await actAndRest(how, frame, () => untilIdle(frame), act);
    if (!target.hasWritten) await requireKeys(frame, outcome);
    const { frame: last } = target;
    const { sensitive: isSecret, ...state } = await stateAfter(last, hand, outcome, question);
    const effect = { ...effectOf(outcome), ...state };
    return { effect, ...trustOf(hand), sensitive: sensitive || Boolean(isSecret) };
  } catch (error) {
    throw marked(error, sensitive);
  } finally {
    await target.stop();
  }
}

/**
 * The person has said yes to keys for the element that had the focus then, or that is named. A field
 * for text was compared before it got the focus: pages take its hint away then.
 * @param {Handed<Wire.Press | Wire.Type>} context
 * @param {Frame} frame
 * @param {Ready} ready
 */
async function requireConfirmedFocus(context, frame, { isText }) {
  const { confirmed, ...input } = context.input;
  if (!confirmed) return;
  if (isNamed(/** @type {Wire.Place} */ (input))) {
    if (!isText) await frame.ask("requireSame", toCompare({ confirmed }));
    return;
  }
  requireSame(confirmed, await lookIn(context, frame, { isFocus: true }));
}

/**
 * @param {Frame} frame
 * @param {import("./act.js").Outcome} outcome
 */
async function requireKeys(frame, { arrived, dialog }) {
  if (arrived || dialog) return;
  const on = await askMinting(frame, "where", {}).catch(() => "");
  const where = on ? `the focus was on ${quoted(on)}` : "nothing on the page had the focus";
  const message = `The page did not get the key where it was meant: ${where}.`;
  throw new CommandError("page_may_have_received", message, { receivedBy: on });
}

/**
 * @param {Handed} context
 * @param {KeyTarget} target
 * @param {Piece[]} pieces
 * @param {Ready} ready
 * @param {AbortSignal} live
 */
async function sendPieces(context, target, pieces, { isText }, live) {
  const { tabId, site, hand } = context;
  requireKnownSite(tabId, site);
  for (const [index, piece] of pieces.entries()) {
    // A script's keys stay in their frame.
    if (hand.trusted) await requireFocus(context);
    live.throwIfAborted();
    requireStay(tabId, site);
    await target.send(piece, { isText, isLast: index === pieces.length - 1 });
  }
}

/**
 * The call's record leaves out what was typed if it was meant for a sensitive field, wherever the
 * focus is by then.
 * @param {Handed<Wire.Named>} context
 * @param {(focus: {frame: Frame, how: object}) => Promise<Wire.Pressed>} work
 * @returns {Promise<Wire.Pressed>}
 */
async function withFocus(context, work) {
  const { tabId, input } = context;
  if (input.ref !== undefined || input.selector !== undefined) return work(await find(context));
  const sensitive = await isSecretMeant(tabId);
  try {
    const output = await work({ frame: await findFocus(context), how: {} });
    return { ...output, sensitive: output.sensitive || sensitive };
  } catch (error) {
    throw marked(error, sensitive);
  }
}

/** @param {Handed<Wire.Named>} context */
async function findFocus({ tabId, reach, signal, hand }) {
  return unlessDialog(tabId, signal, async () => {
    await waitUntilDrawn(tabId);
    const frame = await (hand.trusted ? meantFrame(tabId) : focusedDocument(tabId));
    reach.require(frame);
    return frame;
  });
}

/**
 * A key may move the focus; the next one must not go to a frame that the caller may not enter.
 * @param {Context} context
 */
async function requireFocus({ tabId, site, reach }) {
  if (reach.isEverywhere || (await isFocused(tabId, reach))) return;
  // There may be new frames since, or another page.
  await mainFrame(tabId);
  await reach.explore(framesOf(tabId), site);
  if (await isFocused(tabId, reach)) return;
  throw blocked();
}

/**
 * Whether a frame that the caller may enter has the focus.
 * @param {number} tabId
 * @param {import("../shared/command-context.d.ts").Reach} reach
 */
async function isFocused(tabId, reach) {
  const frames = framesOf(tabId).filter((frame) => reach.allows(frame));
  const asked = frames.map(async (frame) => {
    if (!(await frame.ask("focused", {}))) throw new Error("another frame");
  });
  return Promise.any(asked).then(
    () => true,
    () => false,
  );
}

/**
 * @param {Frame} frame
 * @param {import("./hand.js").Hand} hand
 * @param {import("./act.js").Outcome} outcome
 * @param {"pressed" | "typed"} question
 * @returns {Promise<FieldState>}
 */
async function stateAfter(frame, hand, { dialog, navigated, closed }, question) {
  if (dialog || closed || navigated !== undefined) return {};
  return askWithEditor(frame, question, hand).catch(() => ({}));
}
