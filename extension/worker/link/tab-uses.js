/**
 * Who uses which tab: what one server or client ends in a tab must not end what another one does
 * there, and what it has set up must not stay when it has gone.
 */

import { releaseParts, releaseTab, saver } from "../shared/tab-state.js";

/** @typedef {import("./command-dispatch.js").Commands} Commands */

/** They end what was set up in a tab for an agent. */
const RELEASES = new Set(["tabs.release", "tabs.ungroup"]);
/** What each of these commands sets up, by the name of the part that keeps it for the tab. */
const SETS_UP = new Map([
  ["intercept.start", "interception"],
  ["page.emulate", "emulation"],
  ["page.permission", "permissions set beforehand"],
  ["page.pseudo", "forced states"],
]);
const STORED = "tabUses";

/**
 * A server, or a client that comes through the proxy without one.
 * @typedef {object} TabUser
 * @property {Set<number>} tabs those for which it has sent commands
 * @property {boolean} [isLocal] it comes back after this worker has ended, others begin again
 */

export class TabUses {
  /** @type {Set<TabUser>} */
  #users = new Set();
  /** @type {Map<number, Map<string, TabUser>>} who has set up what, by tab and part */
  #setUp = new Map();
  /** @type {any} what an earlier worker left */
  #earlier = null;
  #save = saver(STORED, () => this.#dump());

  /**
   * @param {TabUser} user
   * @param {Commands["run"]} run
   * @returns {Commands["run"]}
   */
  sharing(user, run) {
    return async (name, context) => {
      const { tabId } = context;
      if (RELEASES.has(name)) return this.#releases(user, tabId, () => run(name, context));
      if (Number.isInteger(tabId)) this.#note(user, tabId, name);
      const output = /** @type {any} */ (await run(name, context));
      const hasOpened = name === "tabs.open" && !context.signal.aborted;
      if (hasOpened) this.#note(user, output.tabId, name);
      return output;
    };
  }

  /**
   * @param {TabUser} user
   * @param {number} tabId
   * @param {string} command
   */
  #note(user, tabId, command) {
    const part = SETS_UP.get(command);
    const setUp = this.#setUp.get(tabId) ?? new Map();
    if (user.tabs.has(tabId) && (!part || setUp.get(part) === user)) return;
    this.#users.add(user);
    user.tabs.add(tabId);
    if (part) this.#setUp.set(tabId, setUp.set(part, user));
    this.#save();
  }

  /**
   * @param {TabUser} user
   * @param {number} tabId
   * @param {() => Promise<unknown>} release
   */
  async #releases(user, tabId, release) {
    const own = this.#leave(user, tabId);
    if (!this.#isUsed(tabId)) return release();
    await releaseParts(tabId, own);
    return {};
  }

  /**
   * @param {TabUser} user
   * @param {number} tabId
   * @returns {string[]} what it has set up there
   */
  #leave(user, tabId) {
    user.tabs.delete(tabId);
    const setUp = this.#setUp.get(tabId) ?? new Map();
    const own = [...setUp].flatMap(([part, by]) => (by === user ? [part] : []));
    for (const part of own) setUp.delete(part);
    if (!setUp.size) this.#setUp.delete(tabId);
    this.#save();
    return own;
  }

  /**
   * It is gone for good, or may do less than before, and cannot release its tabs any more.
   * @param {TabUser} user
   */
  left(user) {
    this.#users.delete(user);
    for (const tabId of [...user.tabs]) {
      const own = this.#leave(user, tabId);
      void this.#end(tabId, own);
    }
  }

  /**
   * @param {number} tabId
   * @param {string[]} parts what nobody wants any longer, if somebody uses the tab
   */
  async #end(tabId, parts) {
    await (this.#isUsed(tabId) ? releaseParts(tabId, parts) : releaseTab({ tabId }));
  }

  /** @param {number} tabId */
  #isUsed(tabId) {
    return [...this.#users].some(({ tabs }) => tabs.has(tabId));
  }

  /** @param {number} tabId */
  forget(tabId) {
    for (const { tabs } of this.#users) tabs.delete(tabId);
    this.#setUp.delete(tabId);
    this.#save();
  }

  #dump() {
    const tabsOf = (/** @type {boolean} */ isLocal) =>
      [...this.#users].flatMap((user) => (Boolean(user.isLocal) === isLocal ? [...user.tabs] : []));
    const setUp = [...this.#setUp].flatMap(([tabId, parts]) =>
      [...parts].map(([part, { isLocal }]) => [tabId, part, Boolean(isLocal)]),
    );
    return { local: tabsOf(true), others: tabsOf(false), setUp };
  }

  async restore() {
    this.#earlier = (await chrome.storage.session.get(STORED))[STORED] ?? null;
  }

  /**
   * Servers and clients elsewhere have lost their sessions with the earlier worker.
   * @param {TabUser} local
   */
  restored(local) {
    const { local: own = [], others = [], setUp = [] } = this.#earlier ?? {};
    this.#earlier = null;
    for (const tabId of own) this.#note(local, tabId, "");
    for (const [tabId, part, isLocal] of setUp) {
      if (isLocal) this.#setUp.set(tabId, (this.#setUp.get(tabId) ?? new Map()).set(part, local));
    }
    for (const tabId of new Set(others)) {
      const parts = setUp.filter((/** @type {any[]} */ [tab, , mine]) => tab === tabId && !mine);
      void this.#end(
        tabId,
        parts.map((/** @type {any[]} */ [, part]) => part),
      );
    }
  }
}
