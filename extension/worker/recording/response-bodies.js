/** Request and response bodies, read from the browser, which keeps some of them for a while. */

import { sendTo } from "../debugger/debugger.js";
import { messageOf } from "../shared/command-errors.js";

/** @typedef {import("./network-log.js").Request} Request */
/** @typedef {import("./tab-recording.js").Recording} Recording */

/** @typedef {Wire.Body} Body */

/**
 * @param {Recording} recording
 * @param {Request[]} entries
 * @param {number} room the limit for all of them together, in characters
 */
export async function bodiesOf({ tabId, network }, entries, room) {
  const filled = [];
  let left = room;
  for (const entry of entries) {
    const course = network.courseOf(entry);
    const body = await bodyOf(tabId, entry, course);
    const postData = await postOf(tabId, entry, course);
    const shown = cut(body, left);
    left -= shown.text?.length ?? 0;
    filled.push({ ...entry, ...(postData !== undefined && { postData }), body: shown });
  }
  return filled;
}

/**
 * @param {number} tabId
 * @param {Request} entry
 * @param {import("./network-log.js").Course | undefined} course
 * @returns {Promise<Body>}
 */
async function bodyOf(tabId, entry, course) {
  if (!course || entry.fromTiming) return { unavailable: "it was over before recording began" };
  if (entry.redirectedTo) return { unavailable: "it is a redirect" };
  if (entry.type === "websocket") return { unavailable: "it is a web socket" };
  if (entry.failed) return { unavailable: "it failed" };
  if (entry.duration === undefined) return { unavailable: "it is still under way" };
  const params = { requestId: course.wireId };
  try {
    const { body, base64Encoded } = await fromAny(tabId, course, "getResponseBody", params);
    return { text: body, base64: base64Encoded };
  } catch (error) {
    return { unavailable: `the browser has not kept it (${messageOf(error)})` };
  }
}

/**
 * @param {number} tabId
 * @param {Request} entry
 * @param {import("./network-log.js").Course | undefined} course
 */
async function postOf(tabId, { hasPostData, postData }, course) {
  if (!hasPostData || postData !== undefined || !course) return postData;
  const params = { requestId: course.wireId };
  const answer = fromAny(tabId, course, "getRequestPostData", params);
  return (await answer.catch(() => ({}))).postData;
}

/**
 * The tab's own session may still have the bodies of a frame that has gone.
 * @param {number} tabId
 * @param {import("./network-log.js").Course} course
 * @param {string} what
 * @param {object} params
 */
async function fromAny(tabId, { session }, what, params) {
  const method = `Network.${what}`;
  try {
    return await sendTo(tabId, session, method, params);
  } catch (error) {
    if (session === undefined) throw error;
    return sendTo(tabId, undefined, method, params);
  }
}

/**
 * @param {Body} body
 * @param {number} room
 * @returns {Body}
 */
function cut(body, room) {
  if (body.text === undefined || body.text.length <= room) return body;
  // A piece of base64 must end with a whole group of four.
  const end = body.base64 ? room - (room % 4) : room;
  return { ...body, text: body.text.slice(0, Math.max(0, end)), length: body.text.length };
}
