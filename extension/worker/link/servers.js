/**
 * The servers that use this browser: the one on this machine, and those that come through the proxy.
 * Each has a connection, the changes of tabs and the running commands for itself.
 */

import { register } from "../shared/tab-state.js";
import { Dispatcher } from "./command-dispatch.js";
import { INCOMPATIBLE, MetServer } from "./protocol-versions.js";
import { TabReporter } from "./tab-reporter.js";
import { TabUses } from "./tab-uses.js";

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("./link.js").Receiver} Receiver */
/** @typedef {import("./command-dispatch.js").Commands} Commands */

/**
 * @typedef {object} Terms
 * @property {ConstructorParameters<typeof TabReporter>[0]} introduction
 * @property {Omit<Commands, "learn">} commands
 * @property {(greeting: any) => void} learn takes the server's greeting
 * @property {() => void} opened called when it knows the tabs
 * @property {boolean} [isLocal] it is on this machine
 */

export class Server {
  #terms;
  #reporter;
  met = new MetServer();
  /** @type {Set<number>} those for which it has sent commands */
  tabs = new Set();

  /** @param {Terms} terms */
  constructor(terms) {
    this.#terms = terms;
    this.isLocal = terms.isLocal === true;
    this.#reporter = new TabReporter(terms.introduction);
  }

  /**
   * A connection to it has opened.
   * @param {Line} line
   * @returns {Receiver}
   */
  begin(line) {
    const { commands, opened } = this.#terms;
    const learn = (/** @type {any} */ greeting) => this.#greeted(line, greeting);
    const dispatcher = new Dispatcher(line, { ...commands, learn });
    void this.#reporter.opened(line).then(opened);
    return (message) => dispatcher.receive(message);
  }

  /**
   * @param {Line} line
   * @param {any} greeting
   */
  #greeted(line, greeting) {
    if (!this.met.greeted(greeting)) line.close(INCOMPATIBLE);
    this.#terms.learn(greeting);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {boolean | undefined} false when it is larger than the link allows
   */
  notify(method, params) {
    return this.#reporter.notify(method, params);
  }

  /**
   * @param {string} method
   * @param {object} params that the introduction does not contain
   */
  tell(method, params) {
    this.#reporter.tell(method, params);
  }

  /** @param {import("./tab-reporter.js").TabChange} item */
  report(item) {
    this.#reporter.report(item);
  }
}

/** All of them. */
class Servers {
  /** @type {Set<Server>} */
  #all = new Set();
  uses = new TabUses();

  /** @param {Server} server */
  add(server) {
    this.#all.add(server);
    return server;
  }

  /** @param {Server} server that is gone for good */
  remove(server) {
    this.#all.delete(server);
    this.uses.left(server);
  }

  restored() {
    const local = [...this.#all].find(({ isLocal }) => isLocal);
    if (local) this.uses.restored(local);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {boolean} false when it is larger than one of their links allows
   */
  notify(method, params) {
    return [...this.#all]
      .map((server) => server.notify(method, params))
      .every((fits) => fits !== false);
  }

  /** @param {import("./tab-reporter.js").TabChange} item */
  report(item) {
    for (const server of this.#all) server.report(item);
  }
}

export function keepServers() {
  const servers = new Servers();
  register({
    name: "servers",
    restore: () => servers.uses.restore(),
    restored: () => servers.restored(),
    forget: (tabId) => servers.uses.forget(tabId),
  });
  return servers;
}
