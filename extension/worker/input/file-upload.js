/**
 * page.upload: files for an input, an element or a point to drop on, or the open file chooser. The
 * browser reads them from disk where it may; elsewhere they come over the link, and the content
 * script hands them to the page.
 */

import { waitUntilDrawn } from "../debugger/awake-tabs.js";
import { send, sendTo } from "../debugger/debugger.js";
import { forgetChooser, openChooser } from "../debugger/file-choosers.js";
import { showToDebugger, showToScript } from "../debugger/isolated-worlds.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { carry } from "../shared/file-pieces.js";
import { actAndRest, effectOf, inTurnWithTab } from "./act.js";
import { isNamed, lookIn, requireSame } from "./asked-targets.js";
import { findPlace, toCompare } from "./targets.js";
import { dragData } from "./trusted-input.js";
import { withFound } from "./found-target.js";

// Dropping files on a page with trusted input, as if dragged from outside the browser.

const COPY = 1;

/** @import { Context } from "../shared/command-context.d.ts" */

/**
 * @param {Context<{settle?: number, observe?: number}>} context
 * @param {Place} place
 * @param {string[]} paths
 * @param {string} tag
 */
async function dropFiles(context, { frame, aim, compared }, paths, tag) {
  const { tabId } = context;
  const prepare = async (/** @type {AbortSignal} */ live) => {
    const point = await aim(live, { by: "hover" });
    await frame.ask("watchUpload", compared);
    return point;
  };
  const data = { items: [], files: paths, dragOperationsMask: COPY };
  return actAndRest(context, frame, prepare, async (point, live) => {
    try {
      await dragData(tabId, "dragEnter", point, data, 0);
      await dragData(tabId, "dragOver", point, data, 0);
      if (!(await frame.ask("takesDrop", compared))) throw takesNone(tag);
      live.throwIfAborted();
      await dragData(tabId, "drop", point, data, 0);
    } catch (error) {
      const params = { type: "dragCancel", ...point, data };
      void send(tabId, "Input.dispatchDragEvent", params).catch(() => {});
      throw error;
    }
  });
}

/** @param {string} tag */
function takesNone(tag) {
  const message = `A ${quoted(`<${tag}>`)} takes no files here: it is not a file input, and refuses a drop. If it opens a file chooser, click it and then upload without a target.`;
  return new CommandError("invalid_arguments", message);
}

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {Wire.FileToGive} FileToGive */
/** @typedef {{kind: "input" | "drop", tag: string, misfits: string[]}} Plan */

/**
 * @typedef {object} Place
 * @property {Frame} frame
 * @property {object} how
 * @property {import("./targets.js").Aim} aim
 * @property {object} compared what the person said yes to
 * @property {import("../debugger/isolated-worlds.js").Held} [input] of a file chooser
 */

/** @typedef {import("./act.js").Outcome} Outcome */
/** @typedef {{outcome: Outcome, files: Wire.ReceivedFile[] | null, trusted: boolean}} Given */

/** @param {Context<Wire.Upload>} context */
export async function upload(context) {
  /** @type {FileToGive[]} */
  const files = context.input.files ?? [];
  if (!files.length) throw new CommandError("invalid_arguments", "There are no files to upload.");
  return inTurnWithTab(context, () => withFound(context, "", (found) => uploadNow(found, files)));
}

/**
 * @param {Context<Wire.Upload>} context
 * @param {FileToGive[]} files
 */
async function uploadNow(context, files) {
  const { tabId, signal } = context;
  const [place, plan] = await unlessDialog(tabId, signal, () => planFor(context, files));
  const give = plan.kind === "input" ? giveToInput : giveByDrop;
  const { outcome, files: seen, trusted } = await give(context, place, files, plan);
  const misfits = plan.misfits.length ? { misfits: plan.misfits } : {};
  return { effect: { ...effectOf(outcome), files: seen ?? undefined }, trusted, ...misfits };
}

/**
 * @param {Context<Wire.Upload>} context
 * @param {FileToGive[]} files
 * @returns {Promise<[Place, Plan]>}
 */
async function planFor(context, files) {
  await waitUntilDrawn(context.tabId);
  const { confirmed, ...input } = context.input;
  const hasPlace = isNamed(input);
  const found = hasPlace ? await findPlace(context, context.input) : await chooserPlace(context);
  if (confirmed && !hasPlace) requireSame(confirmed, await lookIn(context, found.frame, found.how));
  const place = { ...found, compared: toCompare({ confirmed }) };
  const names = files.map(({ name, mimeType }) => ({ name, mimeType }));
  return [place, await place.frame.ask("planUpload", { how: place.how, files: names })];
}

/**
 * The input behind the file chooser that is open.
 * @param {Context} context
 * @returns {Promise<Omit<Place, "compared">>}
 */
export async function chooserPlace({ tabId, reach }) {
  const chooser = openChooser(tabId);
  if (!chooser) throw noChooser();
  const input = await chooser.input;
  // Its frame may be going away just now.
  const frame = input && (await showToScript(tabId, input).catch(() => undefined));
  if (!frame) throw unreachable();
  reach.require(frame);
  return { frame, how: { isShown: true }, aim: () => Promise.reject(noChooser()), input };
}

export function noChooser() {
  const message = "No file chooser is open. Name a file input or a drop zone, or click first.";
  return new CommandError("no_dialog", message);
}

function unreachable() {
  const message = "The file chooser belongs to no input of the page: only a person can answer it.";
  return new CommandError("needs_person", message);
}

/** @param {FileToGive[]} files */
async function mayReadPaths(files) {
  const hasPaths = files.every(({ path }) => path !== undefined);
  return hasPaths && (await chrome.extension.isAllowedFileSchemeAccess());
}

/**
 * @param {FileToGive[]} files
 * @returns {string[]}
 */
function pathsOf(files) {
  return files.flatMap(({ path }) => path ?? []);
}

/**
 * @param {Context<Wire.Upload>} context
 * @param {Place} place
 * @param {FileToGive[]} files
 * @returns {Promise<Given>}
 */
async function giveToInput(context, { frame, input, compared }, files) {
  const { tabId } = context;
  const byPath = await mayReadPaths(files);
  const held = byPath ? (input ?? (await showToDebugger(frame))) : undefined;
  if (!held) await bring(context, frame, files);
  const params = { objectId: held?.objectId, files: pathsOf(files) };
  const act = held
    ? () => sendTo(tabId, held.session, "DOM.setFileInputFiles", params)
    : () => frame.ask("putFiles", { files });
  const outcome = await actAndRest(context, frame, () => frame.ask("watchUpload", compared), act);
  if (input) forgetChooser(tabId);
  return { outcome, files: await seenBy(frame, outcome), trusted: Boolean(held) };
}

/**
 * @param {Context} context
 * @param {Frame} frame
 * @param {FileToGive[]} files
 */
async function bring(context, frame, files) {
  await carry(context, files, (index, data) => frame.ask("addPart", { index, data }));
}

/**
 * @param {Context<Wire.Upload>} context
 * @param {Place} place
 * @param {FileToGive[]} files
 * @param {Plan} plan
 * @returns {Promise<Given>}
 */
async function giveByDrop(context, place, files, { tag }) {
  const trusted = await mayReadPaths(files);
  const outcome = trusted
    ? await dropFiles(context, place, pathsOf(files), tag)
    : await dropBytes(context, place, files, tag);
  return { outcome, files: await seenBy(place.frame, outcome), trusted };
}

/**
 * @param {Context<Wire.Upload>} context
 * @param {Place} place
 * @param {FileToGive[]} files
 * @param {string} tag
 */
async function dropBytes(context, { frame, compared }, files, tag) {
  await bring(context, frame, files);
  const act = async () => {
    if (!(await frame.ask("putFiles", { files }))) throw takesNone(tag);
  };
  return actAndRest(context, frame, () => frame.ask("watchUpload", compared), act);
}

/**
 * The files as the page has seen them.
 * @param {Frame} frame
 * @param {import("./act.js").Outcome} outcome
 */
async function seenBy(frame, { dialog, navigated }) {
  if (dialog || navigated !== undefined) return null;
  return frame.ask("uploaded", {}).catch(() => null);
}
