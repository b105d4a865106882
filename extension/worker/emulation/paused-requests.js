/** Requests of one tab that wait to be answered, and how earlier ones ended. */

import { LONG_LENGTH, URL_LENGTH, clip } from "../shared/clip.js";
import { CommandError } from "../shared/command-errors.js";

/** After this time a request continues by itself. */
export const WAIT_MS = 30_000;
/** One page must not keep the worker busy for all agents. */
const MOST_WAITING = 500;
const ENDED_KEPT = 50;

/**
 * `fetchId`: the browser's, in its session
 * @typedef {Wire.WaitingRequest & {fetchId: string, session?: string}} Paused
 * @typedef {Wire.OverdueRequest} Ended
 * @typedef {{next: number, waiting: Paused[], ended: Ended[]}} Stored
 */

export class PausedRequests {
  #next = 1;
  /** @type {Map<string, Paused>} */
  #waiting = new Map();
  /** @type {Ended[]} */
  #ended = [];

  /** @param {Stored} [stored] */
  constructor(stored) {
    if (!stored) return;
    this.#next = stored.next;
    stored.waiting.forEach((request) => this.#waiting.set(request.requestId, request));
    this.#ended = stored.ended;
  }

  /** @returns {Stored} */
  dump() {
    return { next: this.#next, waiting: this.waiting, ended: this.#ended };
  }

  get waiting() {
    return [...this.#waiting.values()];
  }

  /** Requests that ended without an answer. */
  get overdue() {
    return this.#ended.filter(({ how }) => how === BY_ITSELF || how === TOO_MANY);
  }

  get isFull() {
    return this.#waiting.size >= MOST_WAITING;
  }

  /** @param {Omit<Paused, "requestId">} request */
  add(request) {
    const requestId = `req_${this.#next++}`;
    const paused = { requestId, ...request };
    this.#waiting.set(requestId, paused);
    return paused;
  }

  /**
   * @param {unknown} requestId
   * @returns {Paused}
   */
  require(requestId) {
    const found = this.#waiting.get(String(requestId));
    if (found) return found;
    const ended = this.#ended.find((one) => one.requestId === requestId);
    const why = ended ? `It ${ended.how} already.` : "browser_list_intercepted lists them.";
    throw new CommandError("not_found", `No request ${requestId} is waiting. ${why}`);
  }

  /**
   * @param {string} requestId
   * @param {string} how
   * @returns {boolean} whether it was waiting
   */
  end(requestId, how) {
    const request = this.#waiting.get(requestId);
    if (!request) return false;
    this.#waiting.delete(requestId);
    this.#ended = [...this.#ended, { requestId, url: request.url, how }].slice(-ENDED_KEPT);
    return true;
  }
}

export const TOO_MANY = `went on at once, since ${MOST_WAITING} requests waited`;
export const BY_ITSELF = "continued by itself after 30 seconds";

const BACKGROUND = new Set(["XHR", "Fetch", "EventSource", "WebSocket", "Ping", "Prefetch"]);

/**
 * Whether a page does not finish loading before this is answered.
 * @param {string} resourceType
 */
export function holdsUpLoading(resourceType) {
  return !BACKGROUND.has(resourceType);
}

const LITERAL_ORIGIN = /^https?:\/\/[^*?/]+/i;

/**
 * @param {string[]} patterns
 * @returns {string[]} the origins that they name in full
 */
export function originsIn(patterns) {
  return patterns.flatMap((pattern) => LITERAL_ORIGIN.exec(pattern) ?? []);
}

/**
 * @param {string | undefined} session
 * @param {any} params as the browser reports it
 * @returns {Omit<Paused, "requestId">}
 */
export function pausedOf(session, { requestId: fetchId, resourceType, request }) {
  const { url, method, headers, postData } = request;
  const clipped = Object.entries(headers).map(([name, value]) => [name, clip(value, LONG_LENGTH)]);
  return {
    fetchId,
    url: clip(url, URL_LENGTH),
    method,
    resourceType,
    headers: Object.fromEntries(clipped),
    since: Date.now(),
    ...(session !== undefined && { session }),
    ...(postData !== undefined && { postData: clip(postData, LONG_LENGTH) }),
  };
}

// The answers to a waiting request, as debugger commands.

/**
 * @typedef {{method: string, params: object, past: string}} Answer `past`: what was done, in words
 */

/** @typedef {Wire.Input<"intercept.answer">} Given */
/** @typedef {{[G in Given as G["how"]]: (given: G) => Answer}} Answers */

/** @type {Answers} */
const ANSWERS = {
  fulfill: ({ status, headers = {}, body = "" }) => ({
    method: "Fetch.fulfillRequest",
    params: { responseCode: status, responseHeaders: entries(headers), body },
    past: "was fulfilled",
  }),
  fail: ({ errorReason }) => ({
    method: "Fetch.failRequest",
    params: { errorReason },
    past: "was made to fail",
  }),
  continue: ({ url, method, headers, body }) => ({
    method: "Fetch.continueRequest",
    params: {
      ...(url !== undefined && { url }),
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers: entries(headers) }),
      ...(body !== undefined && { postData: body }),
    },
    past: "was continued",
  }),
};

/** @param {Record<string, string>} headers */
function entries(headers) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/**
 * @param {Given} input
 * @param {Record<string, string>} [own] the headers of the request
 * @returns {Answer}
 */
export function answerOf(input, own = {}) {
  const answer = /** @type {(given: Given) => Answer} */ (ANSWERS[input.how]);
  if (!answer) throw new TypeError(`${input.how} is no answer`);
  return answer(withKept(input, own));
}

/**
 * The agent does not know the headers that are kept.
 * @param {Given} input
 * @param {Record<string, string>} own
 * @returns {Given}
 */
function withKept(input, own) {
  if (input.how !== "continue" || !input.keepHeaders?.length) return input;
  const known = new Map(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]));
  const headers = { ...input.headers };
  for (const name of input.keepHeaders) {
    const value = known.get(name.toLowerCase());
    if (value !== undefined) headers[name] = value;
  }
  return { ...input, headers };
}
