/** Whose documents the frames of a tab show, for those that have no origin to tell it. */

import { siteOf } from "./sites.js";

export class FrameSites {
  /** @type {Map<string, string>} by the debugger's id of the frame */
  #sites = new Map();
  /** @type {Map<string, string>} the outermost frame of each session */
  #roots = new Map();

  /**
   * @param {string} method
   * @param {any} params
   */
  event(method, params) {
    if (method === "Page.frameNavigated") this.#navigated(params.frame);
    if (method === "Network.responseReceived") this.#answered(params);
    if (method === "Target.attachedToTarget")
      this.#roots.set(params.sessionId, params.targetInfo.targetId);
    if (method === "Target.detachedFromTarget") this.#roots.delete(params.sessionId);
  }

  /** @param {any} frame */
  #navigated({ id, url }) {
    this.#sites.set(id, siteOf(url));
  }

  /**
   * Of frames in other processes nothing else is told.
   * @param {any} params
   */
  #answered({ type, frameId, response }) {
    if (type === "Document") this.#sites.set(frameId, siteOf(response.url));
  }

  /** @param {string | undefined} frameId */
  of(frameId) {
    return this.#sites.get(frameId ?? "");
  }

  /** @param {string} session */
  rootOf(session) {
    return this.of(this.#roots.get(session));
  }
}
