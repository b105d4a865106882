/**
 * The servers whose plugins run in this browser. A plugin belongs to one of them: of two with the same
 * name the one on this machine has the place, else the one that was first.
 */

import { findFile } from "./adapter-files.js";

/**
 * @typedef {object} Source a server
 * @property {(method: string, params: object) => void} tell
 * @property {(method: string, params: object) => Promise<unknown>} ask
 * @property {boolean} hasFiles whether it writes code into this extension's folder: it is on this
 *   machine
 * @property {() => string | null} refusal why its plugins may not run here; null: they may
 */
/** @typedef {Wire.PluginCode & {source: Source}} Plugin */

export class PluginSources {
  /** @type {Map<string, Plugin>} by name */
  #plugins = new Map();
  /** @type {Set<Source>} those that say now what may run */
  #vouching = new Set();

  get isEmpty() {
    return this.#plugins.size === 0;
  }

  get isVouched() {
    return this.#vouching.size > 0;
  }

  /** @param {string} name */
  get(name) {
    return this.#plugins.get(name);
  }

  /** @returns {Plugin[]} */
  all() {
    return [...this.#plugins.values()];
  }

  /**
   * The whole list of a server.
   * @param {Source} source
   * @param {Wire.PluginCode[]} codes
   */
  sync(source, codes) {
    this.#vouching.add(source);
    this.#drop(source);
    codes.forEach((code) => this.update(source, code));
  }

  /**
   * @param {Source} source
   * @param {Wire.PluginCode} code
   */
  update(source, code) {
    const owner = this.#plugins.get(code.name)?.source ?? source;
    if (owner === source || source.hasFiles) this.#plugins.set(code.name, { ...code, source });
  }

  /**
   * @param {Source} source
   * @param {string} name
   * @returns {boolean} whether it was there
   */
  remove(source, name) {
    return this.#plugins.get(name)?.source === source && this.#plugins.delete(name);
  }

  /**
   * It says no longer what may run. What one on this machine has injected stays, as it comes back.
   * @param {Source} source
   */
  left(source) {
    this.#vouching.delete(source);
    if (!source.hasFiles) this.#drop(source);
  }

  /** @param {Source} source */
  #drop(source) {
    for (const plugin of this.all()) {
      if (plugin.source === source) this.#plugins.delete(plugin.name);
    }
  }

  /** @param {Plugin} plugin */
  isVouchedFor({ source }) {
    return this.#vouching.has(source);
  }

  /**
   * @param {Plugin} plugin
   * @param {"adapter" | "preScript"} part whose code is to run
   */
  mayRun(plugin, part) {
    const now = this.#plugins.get(plugin.name);
    const isSame = now?.source === plugin.source && now[part] === plugin[part];
    return isSame && this.isVouchedFor(plugin) && plugin.source.refusal() === null;
  }
}

/**
 * @param {Plugin} plugin
 * @param {string} digest
 */
export async function stateOfFile({ name, source }, digest) {
  return source.hasFiles ? findFile(name, digest, source.ask) : "missing";
}
