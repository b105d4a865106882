/**
 * page.upload: files into an input, onto an element or a point, or for the chooser that is open.
 * The browser takes them from the disk where it may; elsewhere they come over the link, and the
 * page gets them from us.
 */

import { actAndRest, effectOf, inTurnWithTab } from "./act.js";
import { forgetChooser, openChooser } from "./choosers.js";
import { send, waitUntilDrawn } from "./debugger.js";
import { unlessDialog } from "./dialogs.js";
import { CommandError } from "./errors.js";
import { framesOf, mainFrame } from "./frames.js";
import { carry } from "./filepieces.js";
import { dropFiles, takesNone } from "./dropping.js";
import { findTarget } from "./target.js";
import { showToDebugger, showToScript } from "./worlds.js";

/** @typedef {import("./navigation.js").Context} Context */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {{name: string, mimeType: string, size: number, path?: string}} FileToGive */
/** @typedef {{kind: "input" | "drop" | "frame", tag: string, misfits: string[]}} Plan */

/**
 * @typedef {object} Place
 * @property {Frame} frame
 * @property {object} how
 * @property {string} [input] the debugger's name for it
 */

/** @typedef {{outcome: import("./act.js").Outcome, files: object[] | null, trusted: boolean}} Given */

/** @param {Context} context */
export async function upload(context) {
  const { tabId, input, signal } = context;
  /** @type {FileToGive[]} */
  const files = input.files ?? [];
  if (!files.length) throw new CommandError("invalid_arguments", "There are no files to upload.");
  return inTurnWithTab(context, async () => {
    const [place, plan] = await unlessDialog(tabId, signal, () => planFor(context, files));
    const give = plan.kind === "input" ? giveToInput : giveByDrop;
    const { outcome, files: seen, trusted } = await give(context, place, files, plan);
    const misfits = plan.misfits.length ? { misfits: plan.misfits } : {};
    return { effect: { ...effectOf(outcome), files: seen ?? undefined }, trusted, ...misfits };
  });
}

/**
 * @param {Context} context
 * @param {FileToGive[]} files
 * @returns {Promise<[Place, Plan]>}
 */
async function planFor(context, files) {
  const { tabId, reach } = context;
  await waitUntilDrawn(tabId);
  const place = await placeOf(context);
  const names = files.map(({ name, mimeType }) => ({ name, mimeType }));
  const plan = await place.frame.ask("planUpload", { how: place.how, files: names });
  // What is in it, only the frame itself knows.
  if (plan.kind === "frame") reach.requireAll(framesOf(tabId));
  return [place, plan];
}

/**
 * @param {Context} context
 * @returns {Promise<Place>}
 */
async function placeOf({ tabId, input, reach }) {
  const { ref, selector, point } = input;
  if (point) return { frame: await mainFrame(tabId), how: { point } };
  if (ref !== undefined || selector !== undefined) return findTarget(tabId, input, reach);
  const chooser = openChooser(tabId);
  if (!chooser) throw noChooser();
  const objectId = await chooser.input;
  const frame = objectId && (await showToScript(tabId, objectId));
  if (!frame) throw unreachable();
  reach.require(frame);
  return { frame, how: { isShown: true }, input: objectId };
}

function noChooser() {
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
 * @param {Context} context
 * @param {Place} place
 * @param {FileToGive[]} files
 * @returns {Promise<Given>}
 */
async function giveToInput(context, { frame, input }, files) {
  const { tabId } = context;
  const byPath = await mayReadPaths(files);
  const objectId = byPath ? (input ?? (await showToDebugger(frame))) : undefined;
  if (!objectId) await bring(context, frame, files);
  const params = { objectId, files: pathsOf(files) };
  const act = objectId
    ? () => send(tabId, "DOM.setFileInputFiles", params)
    : () => frame.ask("putFiles", { files });
  const outcome = await actAndRest(context, frame, () => frame.ask("watchUpload", {}), act);
  if (input) forgetChooser(tabId);
  return { outcome, files: await seenBy([frame], outcome), trusted: Boolean(objectId) };
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
 * @param {Context} context
 * @param {Place} place
 * @param {FileToGive[]} files
 * @param {Plan} plan
 * @returns {Promise<Given>}
 */
async function giveByDrop(context, place, files, { kind, tag }) {
  const trusted = await mayReadPaths(files);
  if (kind === "frame" && !trusted) throw inFrame();
  const { frame } = place;
  const frames = kind === "frame" ? framesOf(context.tabId) : [frame];
  const outcome = trusted
    ? await dropFiles(context, place, frames, pathsOf(files), tag)
    : await dropBytes(context, frame, files, tag);
  return { outcome, files: await seenBy(frames, outcome), trusted };
}

function inFrame() {
  const message = "At this point there is a frame. Name the element in it by ref or selector.";
  return new CommandError("invalid_arguments", message);
}

/**
 * @param {Context} context
 * @param {Frame} frame
 * @param {FileToGive[]} files
 * @param {string} tag
 */
async function dropBytes(context, frame, files, tag) {
  await bring(context, frame, files);
  const act = async () => {
    if (!(await frame.ask("putFiles", { files }))) throw takesNone(tag);
  };
  return actAndRest(context, frame, () => frame.ask("watchUpload", {}), act);
}

/**
 * The files as the page has seen them.
 * @param {Frame[]} frames
 * @param {import("./act.js").Outcome} outcome
 */
async function seenBy(frames, { dialog, navigated }) {
  if (dialog || navigated !== undefined) return null;
  const seen = frames.map((frame) => frame.ask("uploaded", {}).catch(() => null));
  return (await Promise.all(seen)).find((files) => files) ?? null;
}
