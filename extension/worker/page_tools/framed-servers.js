/**
 * Carries messages between the content scripts of a frame and of its parent, for servers that speak
 * MCP only with their parent's window.
 */

import { framesOf, parentOf } from "../frames/frames.js";
import { register } from "../shared/tab-state.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */

const NAME = /^tabhub-window-[\d-]{1,60}$/;

class FramedServers {
  /** @type {Map<string, Frame>} the document that has announced a name */
  #named = new Map();
  /** @type {WeakMap<Frame, string>} */
  #names = new WeakMap();

  /**
   * @param {Frame} frame
   * @param {any} message
   */
  said(frame, message) {
    if (message.type === "windowName") this.#name(frame, message.name);
    else if (message.type === "childServer") void askChildren(frame);
    else if (message.type === "toParent") void this.#toParent(frame, message.payload);
    else if (message.type === "fromChild") this.#fromChild(frame, message);
  }

  get named() {
    return [...this.#named].map(([name, { tabId, frameId }]) => [name, tabId, frameId]);
  }

  /** @param {Frame} frame */
  gone(frame) {
    const name = this.#names.get(frame);
    if (name !== undefined && this.#named.get(name) === frame) this.#named.delete(name);
  }

  /**
   * @param {Frame} frame
   * @param {unknown} name
   */
  #name(frame, name) {
    if (typeof name !== "string" || !NAME.test(name) || this.#names.has(frame)) return;
    this.#named.set(name, frame);
    this.#names.set(frame, name);
  }

  /**
   * @param {Frame} child
   * @param {unknown} payload
   */
  async #toParent(child, payload) {
    const name = this.#names.get(child);
    const parent = await parentOf(child);
    if (parent && name) say(parent, "toChild", { name, origin: child.sender?.origin, payload });
  }

  /**
   * @param {Frame} parent
   * @param {any} message
   */
  #fromChild(parent, { name, origin, payload }) {
    const child = this.#named.get(name);
    if (child?.tabId === parent.tabId && child.sender?.origin === origin) {
      say(child, "fromParent", { payload });
    } else if (payload === "mcp-server-ready") say(parent, "forgetChild", { name });
  }
}

/** @param {Frame} parent */
async function askChildren(parent) {
  for (const frame of framesOf(parent.tabId)) {
    if ((await frame.parentId()) === parent.frameId) say(frame, "introduce", {});
  }
}

/**
 * @param {Frame} frame
 * @param {string} type
 * @param {object} body
 */
function say(frame, type, body) {
  frame.ask(type, body).catch(() => {});
}

const servers = new FramedServers();
register({
  name: "servers in frames",
  said: (frame, message) => servers.said(frame, message),
  gone: (frame) => servers.gone(frame),
  describe: () => servers.named,
});
