/**
 * Getting the person's attention: by the badge on the toolbar button and, when no panel is visible,
 * by notifications.
 */

import { register } from "../shared/tab-state.js";
import { plain, siteOf } from "./plain-text.js";

// The text of the badge.

const RED = "#b3261e";
const GREY = "#5f6368";
const BLUE = "#0b57d0";

/** @typedef {"" | "open" | "used"} Remote whether agents elsewhere could come, or have come */
/**
 * @typedef {object} Waiting what the person should know
 * @property {number} pending
 * @property {boolean} missed
 * @property {boolean} stopped
 * @property {Remote} remote
 */

/**
 * @param {Waiting} waiting
 * @returns {{text: string, color: string}}
 */
function badgeOf({ pending, missed, stopped, remote }) {
  if (pending) return { text: String(pending), color: RED };
  if (missed) return { text: "!", color: RED };
  if (remote) return { text: "R", color: remote === "used" ? BLUE : GREY };
  return { text: stopped ? "II" : "", color: GREY };
}

const STORED = "missed";
const KNOWN = "knownApprovals";
const MISSED_ID = "missed";
const MISSED_EVERY_MS = 10_000;
const APPROVAL = "approval:";
const MANY_ID = "approvals";
const PERMISSION_ID = "permission";
/** Of more approvals that wait, one notification has the number. */
const MOST_NOTICES = 3;
/** A lost link comes back within seconds, unless the server is gone. */
const LOST_MS = 10_000;

/** @typedef {Panel.ConfirmationMissed} Named who asks for what, and where */

export class Attention {
  /** @type {Map<string, Named>} approvals that wait, the oldest first */
  #pending = new Map();
  /** @type {Set<string>} those that the person was notified of, or saw in a panel */
  #known = new Set();
  /** @type {Promise<void> | undefined} */
  #restored;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #lost;
  #stopped = false;
  /** @type {boolean | undefined} not known before it is restored */
  #missed;
  #missedToldAt = 0;
  /** @type {Remote} */
  #remote = "";
  #wanted = 0;
  #isWatched;

  /** @param {() => boolean} isWatched whether a panel can be seen */
  constructor(isWatched) {
    this.#isWatched = isWatched;
  }

  /** The approval that has waited longest. */
  get oldest() {
    return this.#pending.keys().next().value;
  }

  /** After a restart of this worker. */
  restore() {
    this.#restored ??= this.#restore();
    return this.#restored;
  }

  async #restore() {
    const stored = await chrome.storage.session.get([STORED, KNOWN]);
    this.#missed ??= Boolean(stored[STORED]);
    const known = /** @type {unknown} */ (stored[KNOWN]);
    for (const id of Array.isArray(known) ? known : []) this.#known.add(id);
    this.#show();
  }

  /**
   * The link is open, perhaps again: what was asked meanwhile is in the state.
   * @param {Pick<Panel.State, "confirmations" | "stopped">} state
   */
  sync({ confirmations, stopped }) {
    clearTimeout(this.#lost);
    this.#pending = new Map(confirmations.map((request) => [request.id, request]));
    this.#stopped = stopped;
    this.#show();
    void this.#notifyOfNew();
    void this.#withdraw();
  }

  /** @param {Panel.Confirmation} request */
  asked(request) {
    this.#pending.set(request.id, request);
    this.#show();
    void this.#notifyOfNew();
  }

  /** @param {string} id */
  decided(id) {
    this.#pending.delete(id);
    this.#show();
    void this.#withdraw();
  }

  /** @param {Panel.ConfirmationMissed} request */
  missed(request) {
    this.#setMissed(true);
    if (Date.now() - this.#missedToldAt < MISSED_EVERY_MS) return;
    this.#missedToldAt = Date.now();
    notify(MISSED_ID, "was refused: no panel was open to ask you", request, false);
  }

  panelOpened() {
    this.#setMissed(false);
  }

  /** @param {Remote} remote */
  setRemote(remote) {
    if (this.#remote === remote) return;
    this.#remote = remote;
    this.#show();
  }

  /** @param {{why: string}[]} wanted permissions that the browser gives only after a press */
  setWanted(wanted) {
    const isMore = wanted.length > this.#wanted;
    this.#wanted = wanted.length;
    this.#show();
    const last = wanted.at(-1);
    if (!last) void chrome.notifications.clear(PERMISSION_ID);
    else if (isMore && !this.#isWatched()) {
      const message = "Open tabhub's panel to allow it or not.";
      show(PERMISSION_ID, { title: `An agent wants to ${last.why}`, message }, true);
    }
  }

  /** The connection is gone; the calls wait on for a while, in case it comes back. */
  disconnected() {
    clearTimeout(this.#lost);
    this.#lost = setTimeout(() => this.sync({ confirmations: [], stopped: false }), LOST_MS);
  }

  /** Each approval is announced once, also if this worker was restarted meanwhile. */
  async #notifyOfNew() {
    await this.restore();
    const fresh = [...this.#pending].filter(([id]) => !this.#known.has(id));
    if (!fresh.length) return;
    const isSeen = this.#isWatched();
    for (const [id, request] of fresh) {
      this.#known.add(id);
      if (!isSeen) this.#notifyOf(id, request);
    }
    this.#known = new Set([...this.#known].filter((id) => this.#pending.has(id)));
    void chrome.storage.session.set({ [KNOWN]: [...this.#known] });
  }

  /**
   * @param {string} id
   * @param {Named} request
   */
  #notifyOf(id, request) {
    if (this.#pending.size <= MOST_NOTICES) {
      notify(APPROVAL + id, "waits for your approval", request, true);
    } else {
      const title = `${this.#pending.size} calls wait for your approval`;
      show(MANY_ID, { title, message: "Click to see them." }, true);
    }
  }

  /** @param {boolean} missed */
  #setMissed(missed) {
    this.#missed = missed;
    void chrome.storage.session.set({ [STORED]: missed });
    this.#show();
  }

  #show() {
    const missed = Boolean(this.#missed);
    const { text, color } = badgeOf({
      pending: this.#pending.size + this.#wanted,
      missed,
      stopped: this.#stopped,
      remote: this.#remote,
    });
    void chrome.action.setBadgeText({ text });
    void chrome.action.setBadgeBackgroundColor({ color });
  }

  /** Notifications outlive this worker: clears those of approvals that no longer wait. */
  async #withdraw() {
    for (const id of Object.keys(await chrome.notifications.getAll())) {
      const about = confirmationOf(id);
      const isOver = about
        ? !this.#pending.has(about)
        : id === MANY_ID && this.#pending.size <= MOST_NOTICES;
      if (isOver) void chrome.notifications.clear(id);
    }
  }
}

/** @param {() => boolean} isWatched whether a panel can be seen */
export function keepAttention(isWatched) {
  const attention = new Attention(isWatched);
  register({ name: "attention", restore: () => attention.restore() });
  return attention;
}

/**
 * @param {string} notice the id of a notification
 * @returns {string} the id of the approval that it is about, or empty
 */
export function confirmationOf(notice) {
  return notice.startsWith(APPROVAL) ? notice.slice(APPROVAL.length) : "";
}

/**
 * Shows who, what and where, but no parameters: they may be secrets, and others may see the screen.
 * @param {string} id
 * @param {string} what
 * @param {Named} request
 * @param {boolean} requireInteraction
 */
function notify(id, what, { client, agent, tool, title, origin }, requireInteraction) {
  const site = siteOf(origin);
  const who = agent && agent !== client ? `${agent} (${client})` : client;
  const message = `${title} (${tool})${site ? ` on ${site}` : ""}`;
  show(id, { title: plain(`${who} ${what}`), message: plain(message) }, requireInteraction);
}

/**
 * @param {string} id
 * @param {{title: string, message: string}} texts
 * @param {boolean} requireInteraction
 */
function show(id, texts, requireInteraction) {
  const iconUrl = chrome.runtime.getURL("icons/128.png");
  void chrome.notifications.create(id, { type: "basic", iconUrl, requireInteraction, ...texts });
}
