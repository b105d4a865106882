/**
 * The recording of one tab. It continues across navigations: each entry names its page.
 */

import { childrenOf } from "../debugger/child-sessions.js";
import { sendTo } from "../debugger/debugger.js";
import { URL_LENGTH, clip } from "../shared/clip.js";
import { siteOf } from "../shared/known-tabs.js";
import { RateLimit } from "../shared/timing.js";
import { ConsoleLog } from "./console-log.js";
import { NetworkLog } from "./network-log.js";
import { SocketLog } from "./socket-log.js";

// The sites of a tab's frames, for documents without an origin.

class FrameSites {
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
   * For frames in other processes, nothing else is reported.
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

/** @typedef {Wire.RecordingSizes} Sizes */

const MOST_MESSAGES = 2000;
const AS_IT_IS = "function () { return this; }";

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {string} objectId
 */
async function previewOf(tabId, session, objectId) {
  const params = { objectId, functionDeclaration: AS_IT_IS, generatePreview: true };
  try {
    const objectGroup = { objectGroup: "console" };
    const answer = await sendTo(tabId, session, "Runtime.callFunctionOn", {
      ...params,
      ...objectGroup,
    });
    return answer.result?.preview;
  } catch {
    return undefined;
  }
}

export class Recording {
  began = Date.now();
  /** Since when nothing has been missed. */
  hearsSince = Infinity;
  /** @type {Promise<unknown>} settles when the debugger is attached and the commands are sent */
  attached = Promise.resolve();
  /** @type {Promise<unknown>} settles when it records and earlier requests have been looked up */
  ready = Promise.resolve();
  /** @type {Map<string | undefined, RateLimit>} by session */
  #isTooFast = new Map();
  /** @type {Set<string | undefined>} sessions whose console is paused */
  #paused = new Set();
  #page = "";
  #frames = new FrameSites();
  /** @type {import("./console-log.js").Asking} */
  #asking = {
    request: (id) => this.network.current(id),
    frame: (id) => this.#frames.of(id),
  };
  /** @type {string | undefined} */
  #mainFrame;

  /**
   * @param {number} tabId
   * @param {string} why
   * @param {Sizes} sizes
   */
  constructor(tabId, why, sizes) {
    this.tabId = tabId;
    this.why = why;
    this.sizes = sizes;
    this.console = new ConsoleLog(sizes.consoleEntries, (session, objectId) =>
      previewOf(tabId, session, objectId),
    );
    this.network = new NetworkLog(sizes.networkEntries, sizes.urlFilter);
    this.sockets = new SocketLog(sizes.socketFrames ?? sizes.networkEntries, this.network);
    chrome.tabs.get(tabId).then(
      ({ url = "" }) => (this.#page ||= url === "about:blank" ? "" : clip(url, URL_LENGTH)),
      () => {},
    );
  }

  /**
   * @param {string | undefined} session
   * @param {string} method
   * @param {any} params
   */
  event(session, method, params) {
    if (method === "Page.frameNavigated") this.#navigated(session, params.frame);
    if (method === "Network.requestWillBeSent") this.#asked(session, params);
    if (method === "Network.responseReceived") this.#answered(session, params);
    if (method === "Target.detachedFromTarget") this.console.sessionGone(params.sessionId);
    this.#frames.event(method, params);
    const [domain] = method.split(".");
    const place = { session, page: this.#page, home: this.#homeOf(session) };
    if (domain === "Network" && method.startsWith("Network.webSocket"))
      this.sockets.event(place, method, params);
    else if (domain === "Network") this.network.event(session, method, params);
    if (domain === "Runtime" || domain === "Log")
      this.console.event(place, method, params, this.#asking);
  }

  /** @param {string | undefined} session */
  isConsolePaused(session) {
    return this.#paused.has(session);
  }

  /** @param {string | undefined} session */
  isTooFast(session) {
    const rate = this.#isTooFast.get(session) ?? new RateLimit(MOST_MESSAGES);
    this.#isTooFast.set(session, rate);
    return rate.note(Date.now());
  }

  /**
   * @param {string | undefined} session
   * @param {number} ms
   */
  pauseConsole(session, ms) {
    this.#paused.add(session);
    const place = { session, page: this.#page, home: this.#homeOf(session) };
    const text = `More than ${MOST_MESSAGES} messages in a second: the console is not recorded for ${ms / 1000} seconds.`;
    this.console.note(place, text);
    this.console.since = Date.now();
  }

  /** @param {string | undefined} session */
  resumeConsole(session) {
    this.#paused.delete(session);
    this.#isTooFast.delete(session);
  }

  /**
   * @param {string | undefined} session
   * @param {any} frame
   */
  #navigated(session, { id, parentId, url, urlFragment = "" }) {
    if (session !== undefined || parentId) return;
    this.#mainFrame = id;
    this.#page = clip(url + urlFragment, URL_LENGTH);
  }

  /**
   * The first document that a new tab requests is its own.
   * @param {string | undefined} session
   * @param {any} params
   */
  #asked(session, { type, frameId }) {
    if (session === undefined && type === "Document" && !this.#page) this.#mainFrame ??= frameId;
  }

  /**
   * A navigation may be reported after the new page's first messages.
   * @param {string | undefined} session
   * @param {any} params
   */
  #answered(session, { type, frameId, response }) {
    if (session !== undefined || type !== "Document" || frameId !== this.#mainFrame) return;
    this.#page = clip(response.url, URL_LENGTH);
  }

  /**
   * The site of a session's own document or worker.
   * @param {string | undefined} session
   */
  #homeOf(session) {
    if (session === undefined) return siteOf(this.#page);
    const child = childrenOf(this.tabId).find((one) => one.session === session);
    return this.#frames.rootOf(session) ?? siteOf(child?.url || "data:");
  }

  /** @param {Omit<import("./network-log.js").Request, "requestId">[]} requests */
  addEarlier(requests) {
    const known = new Set(this.network.entries.map(({ url }) => url));
    for (const request of requests) if (!known.has(request.url)) this.network.add(request);
  }
}
