/**
 * A short log of what happened to the worker, for finding faults. It holds command names, reasons
 * and tab numbers; nothing from pages, no addresses, no secrets.
 */

import { register } from "./tab-state.js";

const STORED = "journal";
const KEPT = 300;
const SAVE_AFTER_MS = 500;

/** @typedef {Wire.LogLine} Line */
/** @typedef {Line["level"]} Level */

export class Journal {
  /** @type {Line[]} */
  #lines = [];
  onChange = () => {};

  get lines() {
    return this.#lines;
  }

  /**
   * @param {Level} level
   * @param {string} message
   */
  note(level, message) {
    const line = { time: Date.now(), level, source: /** @type {const} */ ("background"), message };
    this.#lines = [...this.#lines, line].slice(-KEPT);
    this.onChange();
  }

  /** @param {unknown} earlier lines of the previous worker */
  prepend(earlier) {
    if (Array.isArray(earlier)) this.#lines = [...earlier, ...this.#lines].slice(-KEPT);
  }

  /**
   * @param {Wire.ReadLogs} wanted
   * @returns {Line[]} the latest of those that fit
   */
  find({ level = "all", source = "all", limit = 100, since = 0 }) {
    const fits = (/** @type {Line} */ line) =>
      (level === "all" || line.level === level) &&
      (source === "all" || line.source === source) &&
      line.time >= since;
    return this.#lines.filter(fits).slice(-limit);
  }
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let saveTimer;
const journal = new Journal();

function saveSoon() {
  saveTimer ??= setTimeout(() => {
    saveTimer = undefined;
    void chrome.storage.session.set({ [STORED]: journal.lines });
  }, SAVE_AFTER_MS);
}

/**
 * @param {Level} level
 * @param {string} message
 */
export function note(level, message) {
  journal.note(level, message);
}

/**
 * An unexpected error: notes where it happened but not its message, which may contain a page's
 * text.
 * @param {unknown} error
 */
export function noteFault(error) {
  const where = error instanceof Error ? /worker\/[\w./-]+:\d+/.exec(error.stack ?? "")?.[0] : "";
  const name = error instanceof Error ? error.name : typeof error;
  note("error", `unforeseen ${name} at ${where || "an unknown place"}`);
}

async function restoreJournal() {
  journal.prepend((await chrome.storage.session.get(STORED))[STORED]);
  journal.onChange = saveSoon;
  saveSoon();
}

/** @param {import("./command-context.d.ts").Context<Wire.ReadLogs>} context */
export async function readJournal({ input }) {
  const entries = journal.find(input);
  return { entries, total: journal.lines.length };
}

register({ name: "journal", restore: restoreJournal });
