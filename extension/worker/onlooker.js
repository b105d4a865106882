/** Looking on, so that a tab draws though no person sees it. */

import { send, sessionOf } from "./debugger/debugger.js";
import { register } from "./shared/tab-state.js";
import { within } from "./within.js";

const FRAME_MS = 2000;
/**
 * A background tab draws at full pace only while someone looks on: this looks, and costs little.
 * What is so thin that nothing of it is left at this size is not drawn.
 */
const ONLOOKER = { format: "jpeg", quality: 1, maxWidth: 64, maxHeight: 64, everyNthFrame: 1000 };
const NEXT_FRAME = "new Promise((done) => requestAnimationFrame(() => done()))";

/**
 * Input sent to a page that has never drawn is acknowledged and lost.
 * @param {number} tabId
 */
export async function waitUntilDrawn(tabId) {
  const session = sessionOf(tabId);
  if (!session) return;
  if (!session.watched) void send(tabId, "Page.startScreencast", ONLOOKER).catch(() => {});
  session.watched = true;
  session.drawn ??= within(FRAME_MS, nextFrame(tabId)).catch(() => {});
  await session.drawn;
}

/**
 * @param {number} tabId
 * @param {string | undefined} _
 * @param {string} method
 * @param {any} params
 */
function screencastEvent(tabId, _, method, params) {
  if (method !== "Page.screencastFrame") return;
  const { sessionId } = params;
  void send(tabId, "Page.screencastFrameAck", { sessionId }).catch(() => {});
}

/** @param {number} tabId */
async function nextFrame(tabId) {
  await send(tabId, "Runtime.evaluate", { expression: NEXT_FRAME, awaitPromise: true });
}

register({ name: "screencasts", event: screencastEvent });
