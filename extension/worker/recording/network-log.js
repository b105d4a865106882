/**
 * The requests of a tab, its frames and workers, while they run; each redirect is an entry of its
 * own.
 */

import { Ring } from "./ring-buffer.js";
import { siteOf } from "../shared/known-tabs.js";
import { clip, URL_LENGTH } from "../shared/clip.js";

const MOST_BYTES = 10_000_000;
const ENTRY_BYTES = 500;
const HEADER_LENGTH = 4000;
const MOST_HEADERS = 100;
const POST_LENGTH = 64_000;
const MOST_EARLY = 5000;

/** @typedef {[string, string][]} Headers */

/** @typedef {Wire.RecordedRequest} Request */

/**
 * The steps of one browser request, with what is reported separately.
 * @typedef {object} Course
 * @property {string | undefined} session
 * @property {string} wireId
 * @property {number} begun by the browser's own clock
 * @property {Request[]} steps
 * @property {any[]} asked headers as they were sent, one for each step that reached the network
 * @property {any[]} answered
 * @property {Set<Request>} offline steps that did not
 */

export class NetworkLog {
  #ring;
  /** @type {Map<string, Course>} by the browser's id */
  #courses = new Map();
  /** @type {Map<Request, Course>} */
  #courseOf = new Map();
  #lastId = 0;
  #urlFilter;
  /** The difference between the browser's monotonic clock and wall-clock time, in seconds. */
  wallOffset = 0;

  /**
   * @param {number} most
   * @param {string} [urlFilter]
   */
  constructor(most, urlFilter = "") {
    this.#ring = /** @type {Ring<Request>} */ (new Ring(most, MOST_BYTES));
    this.#ring.onDropped = (entry) => this.#forget(entry);
    this.#urlFilter = urlFilter;
  }

  get entries() {
    return this.#ring.entries;
  }

  get dropped() {
    return this.#ring.dropped;
  }

  clear() {
    this.#ring.clear();
    this.#courses.clear();
    this.#courseOf.clear();
  }

  /**
   * @param {string} requestId
   * @returns {Request | undefined}
   */
  find(requestId) {
    return this.#ring.entries.find((entry) => entry.requestId === requestId);
  }

  /**
   * @param {Request} entry
   * @returns {Course | undefined}
   */
  courseOf(entry) {
    return this.#courseOf.get(entry);
  }

  /**
   * @param {string | undefined} session
   * @param {string} method
   * @param {any} params
   */
  event(session, method, params) {
    const { requestId } = params;
    if (method === "Network.requestWillBeSent") return this.#willBeSent(session, params);
    if (method === "Network.requestWillBeSentExtraInfo") return this.#extra(params, "asked");
    if (method === "Network.responseReceivedExtraInfo") return this.#extra(params, "answered");
    const course = this.#courses.get(requestId);
    const entry = course?.steps.at(-1);
    if (!course || !entry) return;
    if (method === "Network.requestServedFromCache") entry.fromCache = true;
    if (method === "Network.responseReceived") this.#received(course, entry, params);
    if (method === "Network.dataReceived")
      entry.bodySize = (entry.bodySize ?? 0) + params.dataLength;
    if (method === "Network.loadingFinished") this.#finished(course, entry, params);
    if (method === "Network.loadingFailed") this.#failed(course, entry, params);
  }

  /**
   * @param {string | undefined} session
   * @param {any} params
   */
  #willBeSent(session, params) {
    const { requestId, request, redirectResponse, wallTime, timestamp, documentURL } = params;
    if (wallTime) this.wallOffset = wallTime - timestamp;
    const course = this.#courses.get(requestId) ?? newCourse(session, requestId);
    if (redirectResponse) this.#redirected(course, params);
    const url = request.url + (request.urlFragment ?? "");
    // Later events belong to the new step.
    if (this.#urlFilter && !url.includes(this.#urlFilter)) {
      return void this.#courses.delete(requestId);
    }
    course.begun = timestamp;
    const type = String(params.type ?? "other").toLowerCase();
    const page = clip(documentURL ?? "", URL_LENGTH);
    const entry = this.add({
      ...{ url, method: request.method, type, started: Math.round(wallTime * 1000), page },
      site: siteOf(documentURL || "data:"),
      requestHeaders: headersOf(request.headers),
      ...postOf(request),
    });
    this.#enter(course, entry);
  }

  /**
   * A request that is reported in another form.
   * @param {string | undefined} session
   * @param {string} wireId
   * @param {Omit<Request, "requestId">} details
   */
  begin(session, wireId, details) {
    if (this.#urlFilter && !details.url.includes(this.#urlFilter)) return undefined;
    const entry = this.add(details);
    this.#enter(newCourse(session, wireId), entry);
    return entry;
  }

  /** @param {string} wireId */
  current(wireId) {
    return this.#courses.get(wireId)?.steps.at(-1);
  }

  /** @param {string} wireId */
  end(wireId) {
    const entry = this.current(wireId);
    if (entry) entry.duration = Math.max(0, Math.round(Date.now() - entry.started));
  }

  /** @param {Omit<Request, "requestId">} details */
  add(details) {
    const entry = {
      requestId: String(++this.#lastId),
      ...details,
      url: clip(details.url, URL_LENGTH),
    };
    this.#ring.put(entry, sizeOf(entry));
    return entry;
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   */
  #enter(course, entry) {
    course.steps.push(entry);
    this.#courses.set(course.wireId, course);
    this.#courseOf.set(entry, course);
    this.#join(course);
  }

  /**
   * @param {Course} course
   * @param {any} params
   */
  #redirected(course, { redirectResponse, redirectHasExtraInfo, request, timestamp }) {
    const entry = course.steps.at(-1);
    if (!entry) return;
    entry.redirectedTo = clip(request.url, URL_LENGTH);
    this.#answered(course, entry, redirectResponse, redirectHasExtraInfo);
    entry.size = redirectResponse.encodedDataLength;
    this.#close(course, entry, timestamp);
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   * @param {any} params
   */
  #received(course, entry, { response, hasExtraInfo, type }) {
    if (type) entry.type = type.toLowerCase();
    this.#answered(course, entry, response, hasExtraInfo);
    this.#grown(entry);
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   * @param {any} response
   * @param {boolean | undefined} hasExtraInfo
   */
  #answered(course, entry, response, hasExtraInfo) {
    const { status, statusText, mimeType, protocol, remoteIPAddress, timing } = response;
    Object.assign(entry, { status, statusText, mimeType, protocol, timing });
    if (remoteIPAddress) entry.remoteAddress = remoteIPAddress;
    if (response.fromDiskCache || response.fromPrefetchCache) entry.fromCache = true;
    entry.responseHeaders = headersOf(response.headers);
    if (hasExtraInfo === false) course.offline.add(entry);
    this.#join(course);
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   * @param {any} params
   */
  #finished(course, entry, { timestamp, encodedDataLength }) {
    entry.size = encodedDataLength;
    this.#close(course, entry, timestamp);
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   * @param {any} params
   */
  #failed(course, entry, { timestamp, errorText, blockedReason, corsErrorStatus }) {
    const why = blockedReason ?? corsErrorStatus?.corsError;
    entry.failed = why ? `${errorText} (${why})` : errorText;
    this.#close(course, entry, timestamp);
  }

  /**
   * @param {Course} course
   * @param {Request} entry
   * @param {number} timestamp
   */
  #close({ begun }, entry, timestamp) {
    entry.duration = Math.max(0, Math.round((timestamp - begun) * 1000));
    this.#grown(entry);
  }

  /** @param {Request} entry */
  #grown(entry) {
    this.#ring.put(entry, sizeOf(entry), false);
  }

  /**
   * Raw headers are reported separately, before or after the rest.
   * @param {any} params
   * @param {"asked" | "answered"} list
   */
  #extra(params, list) {
    const course = this.#courses.get(params.requestId);
    if (!course) return this.#early(params, list);
    course[list].push(params);
    this.#join(course);
  }

  /**
   * @param {any} params
   * @param {"asked" | "answered"} list
   */
  #early(params, list) {
    if (this.#urlFilter || this.#courses.size > MOST_EARLY) return;
    const course = newCourse(undefined, params.requestId);
    course[list].push(params);
    this.#courses.set(params.requestId, course);
  }

  /** @param {Course} course */
  #join(course) {
    const online = course.steps.filter((step) => !course.offline.has(step));
    for (const [index, step] of online.entries()) {
      const { [index]: asked } = course.asked;
      const { [index]: answered } = course.answered;
      if (asked) step.requestHeaders = headersOf(asked.headers);
      if (answered) step.responseHeaders = headersOf(answered.headers);
    }
  }

  /** @param {Request} entry */
  #forget(entry) {
    const course = this.#courseOf.get(entry);
    this.#courseOf.delete(entry);
    if (course?.steps.at(-1) === entry) this.#courses.delete(course.wireId);
  }
}

/**
 * @param {string | undefined} session
 * @param {string} wireId
 * @returns {Course}
 */
function newCourse(session, wireId) {
  return { session, wireId, begun: 0, steps: [], asked: [], answered: [], offline: new Set() };
}

/**
 * @param {Record<string, string>} headers
 * @returns {Headers}
 */
function headersOf(headers = {}) {
  const all = Object.entries(headers).slice(0, MOST_HEADERS);
  return all.map(([name, value]) => [clip(name, HEADER_LENGTH), clip(value, HEADER_LENGTH)]);
}

/** @param {any} request */
function postOf({ hasPostData, postData }) {
  if (!hasPostData) return {};
  return { hasPostData, ...(postData?.length <= POST_LENGTH && { postData }) };
}

/** @param {Request} entry */
function sizeOf({ url, page, requestHeaders = [], responseHeaders = [], postData = "" }) {
  const headers = [...requestHeaders, ...responseHeaders].flat();
  const texts = [url, page, postData, ...headers];
  return ENTRY_BYTES + 2 * texts.reduce((sum, text) => sum + text.length, 0);
}
