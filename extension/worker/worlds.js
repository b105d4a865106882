/**
 * The debugger and our content scripts live in different worlds of a document. An element goes
 * from one to the other as a part of an event whose name only they know.
 */

import { send } from "./debugger.js";
import { framesOf } from "./frames.js";

const WORLD = "tabhub";
const SHOW = `function (word) {
  const event = new SubmitEvent(word, { submitter: this });
  EventTarget.prototype.dispatchEvent.call(document, event);
}`;

/** @typedef {import("./frame.js").Frame} Frame */

/**
 * @param {number} tabId
 * @param {string} frameId as the debugger calls it
 * @returns {Promise<number>}
 */
export async function worldIn(tabId, frameId) {
  const params = { frameId, worldName: WORLD };
  return (await send(tabId, "Page.createIsolatedWorld", params)).executionContextId;
}

/**
 * @param {any} tree
 * @returns {string[]}
 */
function frameIds({ frame, childFrames = [] }) {
  return [frame.id, ...childFrames.flatMap(frameIds)];
}

/**
 * Worlds in the frame, or in all those that it may be.
 * @param {Frame} frame
 * @returns {Promise<number[]>}
 */
async function worldsFor({ tabId, frameId }) {
  const { frameTree } = await send(tabId, "Page.getFrameTree");
  const ids = frameId === 0 ? [frameTree.frame.id] : frameIds(frameTree);
  const made = await Promise.allSettled(ids.map((id) => worldIn(tabId, id)));
  return made.flatMap((world) => (world.status === "fulfilled" ? [world.value] : []));
}

/**
 * The element that a frame's script holds, for the debugger.
 * @param {Frame} frame
 * @returns {Promise<string | undefined>} undefined where the frame is in another process
 */
export async function showToDebugger(frame) {
  const word = crypto.randomUUID();
  const worlds = await worldsFor(frame);
  const take = `document.addEventListener("${word}", (e) => { globalThis.shown = e.submitter; }, { once: true }); globalThis.shown = undefined`;
  await Promise.all(worlds.map((contextId) => evaluate(frame.tabId, contextId, take)));
  await frame.ask("show", { word });
  const found = worlds.map((contextId) => evaluate(frame.tabId, contextId, "globalThis.shown"));
  return (await Promise.all(found)).find((objectId) => objectId !== undefined);
}

/**
 * @param {number} tabId
 * @param {number} contextId
 * @param {string} expression
 * @returns {Promise<string | undefined>} the debugger's name for the object that it is
 */
async function evaluate(tabId, contextId, expression) {
  const answer = await send(tabId, "Runtime.evaluate", { contextId, expression });
  return answer.result.objectId;
}

/**
 * An element that the debugger holds, for the frame's script.
 * @param {number} tabId
 * @param {string} objectId
 * @returns {Promise<Frame | undefined>} the frame that has it now
 */
export async function showToScript(tabId, objectId) {
  const word = crypto.randomUUID();
  const frames = framesOf(tabId);
  await Promise.all(frames.map((frame) => frame.ask("expectShown", { word }).catch(() => {})));
  const params = { objectId, functionDeclaration: SHOW, arguments: [{ value: word }] };
  await send(tabId, "Runtime.callFunctionOn", params);
  const has = frames.map((frame) => frame.ask("hasShown", {}).catch(() => false));
  return frames[(await Promise.all(has)).indexOf(true)];
}
