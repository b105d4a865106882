/**
 * Tools that pages publish, as their content scripts report them. The server gets them with the
 * browser's own data about the document, never the page's. Everything is reported again on every
 * new connection.
 */

import { RateLimit, onAbort } from "../shared/timing.js";
import { keepingAwake } from "../debugger/awake-tabs.js";
import { bridge } from "./polyfill-bridge.js";
import { PageOrigins } from "./page-origins.js";
import { CommandError } from "../shared/command-errors.js";
import { framesOf, parentOf } from "../frames/frames.js";
import { requireTab } from "../shared/known-tabs.js";
import { clip, URL_LENGTH } from "../shared/clip.js";
import { isStealthy } from "../shared/stealth-tabs.js";
import { register } from "../shared/tab-state.js";

const LIMIT_MS = 300_000;
/** The content script's own time limit comes first. */
const GRACE_MS = 1000;
const BRIDGE_NAME = /^tabhub-[\d-]{1,60}$/;
const KINDS = new Set(["native", "mcp-b", "polyfill"]);
const MAX_TOOLS = 2000;
const MAX_TEXT = 9_000_000;
const MOST_FRAMES = 100;
/** How often, and how many times, pages around a frame are asked that did not answer. */
const RETRY_MS = 1000;
const MOST_TRIES = 30;
/** Per second and document. */
const MOST_BRIDGES = 3;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("../shared/command-context.d.ts").Context["progress"]} Progress */
/** @typedef {"own" | "allowed" | "foreign"} Embedding as in `browser/registerTools` */
/** @typedef {{documentId: string, about: object, extensions?: object, tools: unknown[]}} Published */

/** @typedef {{notify: (method: string, params: object) => boolean | void}} Listener */

/**
 * @typedef {object} Callbacks
 * @property {(method: string, params: object) => boolean | void} notify reports to every server
 * @property {() => Promise<void>} reportTabChanges
 * @property {(text: string) => void} note
 */

class PageTools {
  /** @type {Map<Frame, Published>} */
  #published = new Map();
  /** @type {Map<string, {frame: Frame, report: Progress}>} by the call's id */
  #running = new Map();
  /** @type {WeakMap<Frame, RateLimit>} */
  #bridged = new WeakMap();
  /** @type {WeakMap<Frame, Promise<Embedding>>} */
  #embeddings = new WeakMap();
  #callbacks;
  #origins = new PageOrigins((frame) => this.gone(frame));
  /** Reports go out in the order of events, each after the changes of its tab. */
  #reporting = Promise.resolve();

  /** @param {Callbacks} callbacks */
  constructor(callbacks) {
    this.#callbacks = callbacks;
  }

  /** @returns {object[]} what is known of each frame's tools, with their names */
  describe() {
    return [...this.#published].map(([frame, published]) => {
      const names = published.tools.map((tool) => /** @type {any} */ (tool).name);
      return { ...idOf(frame, published), ...published.about, names };
    });
  }

  /**
   * @param {Listener} server
   * @param {any} params of `sync.full` or `pages.origins`
   */
  setOrigins(server, { pageOrigins }) {
    this.#origins.set(server, pageOrigins);
  }

  /**
   * A connection to a server is open and it knows the tabs.
   * @param {Listener} server
   */
  opened(server) {
    for (const [frame, published] of this.#published) this.#register(frame, published, server);
  }

  /**
   * A server is gone for good.
   * @param {Listener} server
   */
  left(server) {
    this.#origins.forget(server);
  }

  /**
   * @param {Frame} frame
   * @param {any} message
   */
  said(frame, message) {
    if (message.type === "tools") void this.#take(frame, message);
    else if (message.type === "toolProgress") this.#progressed(frame, message);
    else if (message.type === "bridge") this.#bridge(frame, message.name);
  }

  /**
   * @param {Frame} frame
   * @param {unknown} name
   */
  #bridge(frame, name) {
    if (isStealthy(frame.tabId)) return;
    const rate = this.#bridged.get(frame) ?? new RateLimit(MOST_BRIDGES);
    this.#bridged.set(frame, rate);
    if (!rate.note(Date.now())) void injectBridge(frame, name);
  }

  /**
   * An agent uses a tab: a page that had no tools may have some by now. Nothing reports a polyfill
   * that is loaded late.
   * @param {number} tabId
   */
  addressed(tabId) {
    for (const frame of framesOf(tabId)) frame.ask("used", {}).catch(() => {});
  }

  /**
   * @param {Frame} frame
   * @param {any} message
   */
  #progressed(frame, { callId, progress, total, message }) {
    const call = this.#running.get(callId);
    if (call?.frame === frame) call.report(progress, total, message);
  }

  /** @param {Frame} frame */
  gone(frame) {
    const published = this.#published.get(frame);
    if (!this.#published.delete(frame)) return;
    this.#report("browser/unregisterTools", { ...idOf(frame, published) });
  }

  /**
   * @param {Frame} frame
   * @param {any} message
   */
  async #take(frame, message) {
    if (!frame.frameId) return this.#publish(frame, message);
    const known = this.#embeddings.get(frame) ?? knownEmbeddingOf(frame);
    this.#embeddings.set(frame, known);
    const embedding = await known;
    if (framesOf(frame.tabId).includes(frame)) this.#publish(frame, message, embedding);
  }

  /**
   * @param {Frame} frame
   * @param {any} message
   * @param {Embedding} [embedding] of a frame
   */
  #publish(frame, { tools, kind, capabilities, workerId, extensions, leftOut, url }, embedding) {
    const { origin, documentId = "", documentLifecycle } = frame.sender ?? {};
    if (!this.#origins.allows(frame) || documentLifecycle === "prerender") return;
    if (!Array.isArray(tools) || tools.length > MAX_TOOLS || !KINDS.has(kind)) return;
    const known = this.#published.get(frame);
    if (!known && this.#countIn(frame.tabId) >= MOST_FRAMES) return;
    this.#noteLeftOut(frame, leftOut);
    const where = { origin, url: addressOf(frame, url), ...(embedding && { embedding }) };
    const about = { ...where, kind, capabilities, workerId };
    const more = hasAny(leftOut) ? { ...extensions, "tabhub/leftOut": leftOut } : extensions;
    const published = { documentId, about, tools, extensions: more };
    this.#published.set(frame, published);
    const isUpdate = known && isSame(known.about, about);
    if (!isUpdate) this.#register(frame, published);
    else
      this.#report("browser/updateTools", { ...idOf(frame, published), tools, extensions: more });
  }

  /** @param {number} tabId */
  #countIn(tabId) {
    return [...this.#published.keys()].filter((frame) => frame.tabId === tabId).length;
  }

  /**
   * @param {Frame} frame
   * @param {any} leftOut
   */
  #noteLeftOut({ tabId }, leftOut) {
    if (!hasAny(leftOut)) return;
    const [many, large, invalid] = [leftOut.many, leftOut.large, leftOut.invalid].map(Number);
    const counts = `${many} too many, ${large} too large, ${invalid} invalid`;
    this.#callbacks.note(`tools of the page in tab ${tabId} were left out: ${counts}`);
  }

  /**
   * @param {Frame} frame
   * @param {Published} published
   * @param {Listener} [server] all of them unless given
   */
  #register(frame, published, server) {
    const { about, tools, extensions } = published;
    const params = { ...idOf(frame, published), ...about, tools, extensions };
    this.#report("browser/registerTools", params, server);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {Listener} server
   */
  #report(method, params, server = this.#callbacks) {
    const { reportTabChanges, note } = this.#callbacks;
    this.#reporting = this.#reporting
      .then(reportTabChanges)
      .catch(() => {})
      .then(() => {
        if (server.notify(method, params) === false)
          note(`${method} was larger than the link carries`);
      });
  }

  /**
   * @param {any} params as in `browser/executeTool`
   * @param {{signal: AbortSignal, progress: Progress}} how
   * @returns {Promise<{success: boolean, payload: unknown}>}
   */
  async execute(params, how) {
    const { toolName, args, callId, extensions, timeoutMs } = params;
    const frame = await frameFor(params);
    how.signal.throwIfAborted();
    const id = String(callId);
    const maxMs = Number.isFinite(timeoutMs) ? Math.min(timeoutMs, LIMIT_MS) : LIMIT_MS;
    const body = { callId: id, toolName: String(toolName), args: args ?? {}, extensions, maxMs };
    const stop = onAbort(how.signal, () => {
      frame.ask("stopPageTool", { callId: id }).catch(() => {});
    });
    this.#running.set(id, { frame, report: how.progress });
    try {
      const ask = () => frame.ask("pageTool", body, maxMs + GRACE_MS);
      return await keepingAwake(frame.tabId, ask);
    } catch (error) {
      throw afterwards(error);
    } finally {
      stop();
      this.#running.delete(id);
    }
  }
}

/** @param {Callbacks} callbacks */
export function keepPageTools(callbacks) {
  const pageTools = new PageTools(callbacks);
  register({
    name: "page tools",
    said: (frame, message) => pageTools.said(frame, message),
    gone: (frame) => pageTools.gone(frame),
    addressed: (tabId) => pageTools.addressed(tabId),
    describe: () => pageTools.describe(),
  });
  return pageTools;
}

/**
 * A page around the frame may be busy, or not connected yet; only one that stays so makes the frame
 * a foreign one.
 * @param {Frame} frame
 * @returns {Promise<Embedding>}
 */
async function knownEmbeddingOf(frame) {
  for (let tries = 0; tries < MOST_TRIES && framesOf(frame.tabId).includes(frame); tries++) {
    if (tries) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    const found = await embeddingOf(frame).catch(() => undefined);
    if (found) return found;
  }
  return "foreign";
}

/**
 * How a frame is in its tab. The browser's own policy counts where it has one for tools; elsewhere
 * the attribute `allow` of each frame on the way that is in a page of another origin.
 * @param {Frame} frame
 * @returns {Promise<Embedding | undefined>} undefined if a page around it cannot be reached
 */
async function embeddingOf(frame) {
  const own = await ancestors(frame);
  if (!own.length) return undefined;
  const steps = own.slice(1).map((parent, index) => [/** @type {Frame} */ (own[index]), parent]);
  const strange = steps.filter(([child, parent]) => originOf(child) !== originOf(parent));
  if (!strange.length) return "own";
  const policy = await frame.ask("toolPolicy", {});
  if (typeof policy === "boolean") return policy ? "allowed" : "foreign";
  const allowed = await Promise.all(strange.map(([child, parent]) => isAllowed(child, parent)));
  return allowed.every(Boolean) ? "allowed" : "foreign";
}

/**
 * @param {Frame} frame
 * @returns {Promise<Frame[]>} the frame and all around it; empty if one cannot be reached
 */
async function ancestors(frame) {
  const found = [frame];
  for (let each = frame; each.frameId;) {
    const parent = await parentOf(each);
    if (!parent) return [];
    found.push((each = parent));
  }
  return found;
}

/** @param {Frame | undefined} frame */
function originOf(frame) {
  return frame?.sender?.origin;
}

/**
 * @param {Frame | undefined} child
 * @param {Frame | undefined} parent
 */
async function isAllowed(child, parent) {
  const index = await child?.ask("index", {});
  return parent?.ask("allowsTools", { index, origin: originOf(child) });
}

/** @param {any} params */
async function frameFor({ tabId, frameId = 0, documentId }) {
  const tab = await requireTab(tabId);
  const frame = framesOf(tab).find((each) => each.frameId === frameId);
  if (!frame) throw new CommandError("adapter_not_ready", "The tab's page cannot be reached yet.");
  if (documentId && frame.sender?.documentId !== documentId) {
    throw new CommandError("navigated_away", "The tab shows another page by now.");
  }
  return frame;
}

/**
 * @param {Frame} frame
 * @param {Published | undefined} published
 */
function idOf({ tabId, frameId }, published) {
  return { tabId, frameId, documentId: published?.documentId ?? "" };
}

/**
 * The document's current URL; the browser reported it only when the document was loaded.
 * @param {Frame} frame
 * @param {unknown} url as the content script reports it
 */
function addressOf({ sender }, url) {
  const isOwn = URL.canParse(String(url)) && new URL(String(url)).origin === sender?.origin;
  return clip(isOwn ? String(url) : (sender?.url ?? ""), URL_LENGTH);
}

/** @param {any} counts */
function hasAny(counts) {
  return Boolean(counts?.many || counts?.large || counts?.invalid);
}

/**
 * @param {object} a
 * @param {object} b
 */
function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * The page went away or stopped answering during the call: what it has done is unknown.
 * @param {unknown} error
 */
function afterwards(error) {
  if (!(error instanceof CommandError) || error.reason !== "navigated_away") return error;
  const message = "The page went away during the call; it may have received it.";
  return new CommandError("page_may_have_received", message);
}

/**
 * @param {Frame} frame
 * @param {unknown} name
 */
async function injectBridge({ tabId, sender }, name) {
  if (typeof name !== "string" || !BRIDGE_NAME.test(name) || !sender?.documentId) return;
  const target = { tabId, documentIds: [sender.documentId] };
  const args = /** @type {[string, number, number]} */ ([name, MAX_TOOLS, MAX_TEXT]);
  const script = { target, world: /** @type {const} */ ("MAIN"), func: bridge, args };
  // The page may be gone, or protected by the browser.
  await chrome.scripting.executeScript(script).catch(() => {});
}
