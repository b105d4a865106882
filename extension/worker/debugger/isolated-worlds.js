/**
 * The debugger and our content scripts run in different worlds of a document. An element is passed
 * from one to the other in an event whose name only the two know.
 */

import { childrenOf } from "./child-sessions.js";
import { sendTo } from "./debugger.js";
import { framesOf } from "../frames/frames.js";

const WORLD = "tabhub";
const SHOW = `function (word) {
  const event = new SubmitEvent(word, { submitter: this });
  EventTarget.prototype.dispatchEvent.call(document, event);
}`;

/** @typedef {import("../frames/frames.js").Frame} Frame */

/**
 * An object that the debugger holds: its id, and the session of the frame's process.
 * @typedef {{session: string | undefined, objectId: string}} Held
 */

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} frameId as the debugger calls it
 * @returns {Promise<number>}
 */
export async function worldOf(tabId, session, frameId) {
  const params = { frameId, worldName: WORLD };
  return (await sendTo(tabId, session, "Page.createIsolatedWorld", params)).executionContextId;
}

/**
 * @param {any} tree
 * @returns {string[]}
 */
export function frameIds({ frame, childFrames = [] }) {
  return [frame.id, ...childFrames.flatMap(frameIds)];
}

/**
 * Worlds in the frame, or in all frames that it may be.
 * @param {Frame} frame
 * @param {string | undefined} session
 * @returns {Promise<number[]>}
 */
async function worldsFor({ tabId, frameId }, session) {
  const { frameTree } = await sendTo(tabId, session, "Page.getFrameTree");
  const ids = frameId === 0 ? [frameTree.frame.id] : frameIds(frameTree);
  const made = await Promise.allSettled(ids.map((id) => worldOf(tabId, session, id)));
  return made.flatMap((world) => (world.status === "fulfilled" ? [world.value] : []));
}

/**
 * The element that a frame's script holds, for the debugger.
 * @param {Frame} frame
 * @returns {Promise<Held | undefined>} undefined where the frame is in another process
 */
export async function showToDebugger(frame) {
  const objectId = await show(frame, undefined, {});
  return objectId === undefined ? undefined : { session: undefined, objectId };
}

/**
 * An element of a frame in any process; frames in other processes must be attached to.
 * @param {Frame} frame
 * @param {object} how
 * @returns {Promise<Held | undefined>}
 */
export async function showElement(frame, how) {
  const frames = childrenOf(frame.tabId).filter(({ type }) => type === "iframe");
  for (const session of [undefined, ...frames.map((child) => child.session)]) {
    const objectId = await show(frame, session, { how });
    if (objectId !== undefined) return { session, objectId };
  }
  return undefined;
}

/**
 * @param {Frame} frame
 * @param {string | undefined} session
 * @param {object} which
 * @returns {Promise<string | undefined>} undefined where the frame is not in this session
 */
async function show(frame, session, which) {
  const word = crypto.randomUUID();
  const worlds = await worldsFor(frame, session);
  const inWorlds = (/** @type {string} */ expression) =>
    Promise.all(worlds.map((contextId) => evaluate(frame.tabId, session, contextId, expression)));
  await inWorlds(
    `document.addEventListener("${word}", (e) => { globalThis.shown = e.submitter; }, { once: true }); globalThis.shown = undefined`,
  );
  await frame.ask("show", { word, ...which });
  return (await inWorlds("globalThis.shown")).find((objectId) => objectId !== undefined);
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {number} contextId
 * @param {string} expression
 * @returns {Promise<string | undefined>} the debugger's id of the object
 */
async function evaluate(tabId, session, contextId, expression) {
  const params = { contextId, expression };
  const answer = await sendTo(tabId, session, "Runtime.evaluate", params);
  return answer.result.objectId;
}

/**
 * An element that the debugger holds, for the frame's script.
 * @param {number} tabId
 * @param {Held} held
 * @returns {Promise<Frame | undefined>} the frame that it is in now
 */
export async function showToScript(tabId, { session, objectId }) {
  const word = crypto.randomUUID();
  const frames = framesOf(tabId);
  await Promise.all(frames.map((frame) => frame.ask("expectShown", { word }).catch(() => {})));
  const params = { objectId, functionDeclaration: SHOW, arguments: [{ value: word }] };
  await sendTo(tabId, session, "Runtime.callFunctionOn", params);
  const has = frames.map((frame) => frame.ask("hasShown", {}).catch(() => false));
  return frames[(await Promise.all(has)).indexOf(true)];
}
