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
const MISSED_ID = "missed";
const MISSED_EVERY_MS = 10_000;
const APPROVAL = "approval:";

export class Attention {
  /** @type {Set<string>} approvals that wait */
  #pending = new Set();
  #stopped = false;
  /** @type {boolean | undefined} not known before it is restored */
  #missed;
  #missedToldAt = 0;
  /** @type {Remote} */
  #remote = "";
  #isWatched;

  /** @param {() => boolean} isWatched whether a panel can be seen */
  constructor(isWatched) {
    this.#isWatched = isWatched;
  }

  /** After a restart of this worker. */
  async restore() {
    const stored = await chrome.storage.session.get(STORED);
    this.#missed ??= Boolean(stored[STORED]);
    this.#show();
  }

  /** @param {Pick<Panel.State, "confirmations" | "stopped">} state */
  sync({ confirmations, stopped }) {
    this.#pending = new Set(confirmations.map(({ id }) => id));
    this.#stopped = stopped;
    this.#show();
    void this.#withdraw();
  }

  /** @param {Panel.Confirmation} request */
  asked(request) {
    this.#pending.add(request.id);
    this.#show();
    if (!this.#isWatched()) notify(APPROVAL + request.id, "waits for your approval", request, true);
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

  /** The connection is gone, and with it the calls that waited. */
  reset() {
    this.sync({ confirmations: [], stopped: false });
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
      pending: this.#pending.size,
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
      const isOver = id.startsWith(APPROVAL) && !this.#pending.has(id.slice(APPROVAL.length));
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
 * Shows who, what and where, but no parameters: they may be secrets, and others may see the screen.
 * @param {string} id
 * @param {string} what
 * @param {Panel.ConfirmationMissed} request
 * @param {boolean} requireInteraction
 */
function notify(id, what, { client, agent, tool, title, origin }, requireInteraction) {
  const site = siteOf(origin);
  const iconUrl = chrome.runtime.getURL("icons/128.png");
  const who = agent && agent !== client ? `${agent} (${client})` : client;
  const message = `${title} (${tool})${site ? ` on ${site}` : ""}`;
  const texts = { title: plain(`${who} ${what}`), message: plain(message) };
  void chrome.notifications.create(id, { type: "basic", iconUrl, requireInteraction, ...texts });
}
