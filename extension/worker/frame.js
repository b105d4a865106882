/** One document in one frame, at the other end of a port. */

import { Correlator } from "./shared/request-correlator.js";
import { CommandError } from "./shared/command-errors.js";
import { Flood } from "./flood.js";

const ANSWER_MS = 10_000;
/** Far more than content scripts say unasked; they pace what pages make them say. */
const MOST_SAID = 1000;
const REST_MS = 10_000;

export class Frame {
  /** @type {chrome.runtime.Port} */
  #port;
  #requests = new Correlator();
  /** @type {import("./frames/ref-numbers.js").Range | undefined} */
  range;
  /** @type {{parent: Frame, ref: number} | undefined} found by a nonce, good for life */
  place;
  /** @type {Promise<number> | undefined} */
  #parentId;
  onHello = () => {};
  onGone = () => {};
  /** @type {(news: any) => void} */
  onNews = () => {};
  /** @type {(message: any) => void} what it says of the tools that its page publishes */
  onSaid = () => {};
  /** It has said too much, and is let go for a while. */
  onFlood = () => {};
  #flood = new Flood(MOST_SAID);
  #isGone = false;

  /**
   * @param {chrome.runtime.Port} port
   * @param {number} tabId
   * @param {number} frameId
   * @param {string} site
   */
  constructor(port, tabId, frameId, site) {
    this.#port = port;
    this.tabId = tabId;
    this.frameId = frameId;
    this.site = site;
    this.sender = port.sender;
    port.onMessage.addListener((message) => this.#receive(message));
    port.onDisconnect.addListener(() => this.#gone());
  }

  /**
   * @param {string} type
   * @param {object} body
   * @param {number} [timeoutMs]
   * @returns {Promise<any>}
   */
  ask(type, body, timeoutMs = ANSWER_MS) {
    const send = (/** @type {number} */ id) => {
      try {
        // A busy page takes its messages late; what nobody waits for any more must not be done.
        this.#port.postMessage({ id, type, body, until: Date.now() + timeoutMs });
      } catch {
        this.#requests.settle(id, goneError());
      }
    };
    return this.#requests.request(send, { timeoutMs, late: timeoutError });
  }

  /** @returns {Promise<number>} -1 when the browser does not say */
  parentId() {
    this.#parentId ??= chrome.webNavigation
      .getFrame({ tabId: this.tabId, frameId: this.frameId })
      .then((details) => details?.parentFrameId ?? -1)
      .catch(() => -1);
    return this.#parentId;
  }

  /** @param {any} message */
  #receive(message) {
    if (this.#isGone) return;
    if (!this.#isAnswer(message) && this.#flood.note(Date.now())) return this.#letGo();
    if (message?.type === "hello") this.#hello(message);
    else if (message?.type === "news") this.onNews(message);
    else if (typeof message?.type === "string") this.onSaid(message);
    else this.#requests.settle(message?.id, answerError(message), message?.value);
  }

  /** @param {any} message */
  #isAnswer(message) {
    return message?.type === undefined && this.#requests.has(message?.id);
  }

  /** @param {any} message */
  #hello({ range }) {
    if (Number.isInteger(range?.slot) && Number.isInteger(range?.next)) this.range = range;
    this.onHello();
  }

  /** What was dropped would be missed: a new port tells everything anew. */
  #letGo() {
    void this.ask("rest", { ms: REST_MS }).catch(() => {});
    this.#port.disconnect();
    this.onFlood();
    this.#gone();
  }

  #gone() {
    this.#isGone = true;
    // Reading the error keeps it out of the extension's own error list.
    void chrome.runtime.lastError;
    this.#requests.failAll(goneError);
    this.onGone();
  }
}

/** @param {any} message */
function answerError(message) {
  const error = message?.error;
  return error ? new CommandError(String(error.reason), String(error.message), error.data) : null;
}

function timeoutError() {
  return new CommandError("timeout", "The page does not answer: it is busy, or shows a dialog.");
}

function goneError() {
  return new CommandError("navigated_away", "The page went away before it answered.");
}
