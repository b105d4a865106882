/** The console messages of a tab's pages, frames and workers, with uncaught errors. */

import { URL_LENGTH, clip } from "../shared/clip.js";
import { siteOf } from "../shared/known-tabs.js";
import { Ring } from "./ring-buffer.js";
import { TEXT_LENGTH, render, renderArguments } from "./value-rendering.js";

// When a page comes back from the back/forward cache, the browser repeats all its messages. They
// are recognized by their time, which is exact to the microsecond.

export class RepeatedMessages {
  /** @type {Set<number>} the times of the latest messages, in order of arrival */
  #times = new Set();
  #most;
  #latest = 0;
  #left = 0;

  /** @param {number} most */
  constructor(most) {
    this.#most = most;
  }

  /** A document has gone: its messages may be repeated. */
  left() {
    this.#left = this.#latest;
  }

  /**
   * Whether a message of this time has come before; if not, it is remembered.
   * @param {number} time
   */
  knows(time) {
    if (time <= this.#left && this.#times.has(time)) return true;
    this.#latest = Math.max(this.#latest, time);
    this.#times.add(time);
    if (this.#times.size > this.#most)
      this.#times.delete(Number(this.#times.values().next().value));
    return false;
  }
}

const MOST_BYTES = 5_000_000;
const ENTRY_BYTES = 200;
const MOST_LOOKS = 200;
const LEVELS = new Map([
  ["warning", "warn"],
  ["assert", "error"],
  ["error", "error"],
  ["info", "info"],
  ["debug", "debug"],
  ["verbose", "debug"],
]);
/** What the debugger calls the origin of a document in a sandbox. */
const NO_ORIGIN = "://";
const QUOTED = /(?<=')(?:http|ws)s?:[^']*(?=')/g;
/** Messages without content, or that repeat what the page has logged. */
const SILENT = new Set(["clear", "endGroup"]);

/** @typedef {Wire.ConsoleEntry & {about?: string[]}} Entry `about`: URLs in it */

/** @typedef {(session: string | undefined, objectId: string) => Promise<any>} Look at an object */
/**
 * @typedef {object} Asking
 * @property {(requestId: string) => {site: string, url: string} | undefined} request
 * @property {(frameId: string) => string | undefined} frame the site of its document
 */
/** @typedef {{session: string | undefined, page: string, home: string}} Place where an event was */

export class ConsoleLog {
  /** @type {Map<string, {site: string, foreign: boolean}>} by session and number */
  #contexts = new Map();
  #ring;
  #repeated;
  /** The browser repeats messages that it has kept; older ones than this are dropped. */
  since = 0;

  /** @type {Set<Promise<void>>} */
  #looking = new Set();
  #look;

  /**
   * @param {number} most
   * @param {Look} look
   */
  constructor(most, look) {
    this.#ring = /** @type {Ring<Entry>} */ (new Ring(most, MOST_BYTES));
    this.#repeated = new RepeatedMessages(most);
    this.#look = look;
  }

  /** Settles when the objects that are being read are known. */
  async settled() {
    await Promise.all(this.#looking);
  }

  get entries() {
    return this.#ring.entries;
  }

  get dropped() {
    return this.#ring.dropped;
  }

  clear() {
    this.#ring.clear();
  }

  /**
   * @param {Place} place
   * @param {string} method
   * @param {any} params
   * @param {Asking} asking
   */
  event(place, method, params, asking) {
    if (method === "Runtime.executionContextCreated")
      this.#contextCreated(place, params.context, asking);
    if (method === "Runtime.consoleAPICalled") this.#called(place, params);
    if (method === "Runtime.exceptionThrown") this.#thrown(place, params);
    if (method === "Log.entryAdded") this.#logged(place, params.entry, asking);
    if (method === "Runtime.executionContextsCleared") this.sessionGone(place.session);
  }

  /** @param {string | undefined} session */
  sessionGone(session) {
    this.#repeated.left();
    for (const key of this.#contexts.keys()) {
      if (key.startsWith(`${session} `)) this.#contexts.delete(key);
    }
  }

  /**
   * @param {Place} place
   * @param {any} context
   * @param {Asking} asking
   */
  #contextCreated({ session }, { id, origin, auxData }, asking) {
    const foreign = auxData?.type === "isolated" || /^chrome-extension:/.test(origin);
    const owner = origin === NO_ORIGIN ? asking.frame(auxData?.frameId) : undefined;
    this.#contexts.set(`${session} ${id}`, { site: owner || siteOf(origin), foreign });
  }

  /**
   * @param {Place} place
   * @param {number | undefined} contextId
   * @returns {{site: string, foreign: boolean}} foreign: not the page's, but an extension's
   */
  #contextOf({ session, home }, contextId) {
    return this.#contexts.get(`${session} ${contextId}`) ?? { site: home, foreign: false };
  }

  /**
   * @param {Place} place
   * @param {any} params
   */
  #called(place, { type, args, executionContextId, timestamp, stackTrace }) {
    const { site, foreign } = this.#contextOf(place, executionContextId);
    if (foreign || SILENT.has(type)) return;
    const level = LEVELS.get(type) ?? "log";
    const at = positionOf(stackTrace?.callFrames?.[0]);
    const text = renderArguments(args);
    const message = { level, source: "console", time: timestamp, text, ...at, site };
    const entry = this.#add(place, message);
    if (entry && args.some(isUnseen)) this.#lookAt(place, entry, args);
  }

  /**
   * Messages from before recording come without previews of their objects.
   * @param {Place} place
   * @param {Entry} entry
   * @param {import("./value-rendering.js").RemoteObject[]} args
   */
  #lookAt({ session }, entry, args) {
    if (this.#looking.size >= MOST_LOOKS) return;
    const looks = args.map(async (arg) => {
      const preview = isUnseen(arg) && (await this.#look(session, String(arg.objectId)));
      return preview ? { ...arg, preview } : arg;
    });
    const looking = Promise.all(looks).then((seen) => {
      entry.text = renderArguments(seen);
      this.#ring.put(entry, sizeOf(entry), false);
    });
    this.#looking.add(looking);
    void looking.finally(() => this.#looking.delete(looking));
  }

  /**
   * @param {Place} place
   * @param {any} params
   */
  #thrown(place, { timestamp, exceptionDetails: details }) {
    const { site, foreign } = this.#contextOf(place, details.executionContextId);
    if (foreign) return;
    const thrown = details.exception ? render(details.exception) : "";
    const text = `${details.text} ${thrown}`.trim();
    const at = positionOf(details.stackTrace?.callFrames?.[0] ?? details);
    this.#add(place, { level: "error", source: "exception", time: timestamp, text, ...at, site });
  }

  /**
   * @param {Place} place
   * @param {any} entry
   * @param {Asking} asking
   */
  #logged(place, entry, asking) {
    const { source, level, text, timestamp: time, url = "", networkRequestId } = entry;
    // Workers report it themselves.
    if (source === "worker") return;
    const request = asking.request(networkRequestId);
    const site = request?.site ?? (/^https?:/.test(url) ? siteOf(url) : place.home);
    const where = url && source === "network" ? `${text} ${clip(url, URL_LENGTH)}` : text;
    const at = positionOf({ ...entry, ...entry.stackTrace?.callFrames?.[0] });
    this.#add(place, {
      level: LEVELS.get(level) ?? "log",
      source,
      time,
      text: where,
      ...at,
      site,
      // The browser's own message may contain the URL that a request was redirected to.
      about: [request?.url ?? url, ...(text.match(QUOTED) ?? [])],
    });
  }

  /**
   * Adds a message of tabhub's own.
   * @param {Place} place
   * @param {string} text
   */
  note(place, text) {
    const message = { level: "warn", source: "tabhub", time: Date.now(), text, url: "" };
    this.#add(place, { ...message, site: place.home });
  }

  /**
   * @param {Place} place
   * @param {any} message
   * @returns {Entry | undefined}
   */
  #add({ page }, message) {
    if (message.time < this.since || this.#repeated.knows(message.time)) return undefined;
    const entry = { ...message, text: clip(String(message.text), TEXT_LENGTH), page };
    this.#ring.put(entry, sizeOf(entry));
    return entry;
  }
}

/** @param {import("./value-rendering.js").RemoteObject} arg */
function isUnseen({ objectId, preview, subtype, type }) {
  return Boolean(objectId) && !preview && subtype !== "error" && type === "object";
}

/** @param {Entry} entry */
function sizeOf({ text, url }) {
  return ENTRY_BYTES + 2 * (text.length + url.length);
}

/** @param {any} [frame] */
function positionOf({ url = "", lineNumber, columnNumber } = {}) {
  const at = { url: clip(url, URL_LENGTH) };
  if (lineNumber === undefined) return at;
  return { ...at, line: lineNumber + 1, column: (columnNumber ?? 0) + 1 };
}
