/**
 * The servers that use this browser: the one on this machine, and those that come through the proxy.
 * Each has a connection, the changes of tabs and the running commands for itself.
 */

import { register, releaseTab } from "../shared/tab-state.js";
import { Dispatcher } from "./command-dispatch.js";
import { INCOMPATIBLE, MetServer } from "./protocol-versions.js";
import { TabReporter } from "./tab-reporter.js";

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("./link.js").Receiver} Receiver */
/** @typedef {import("./command-dispatch.js").Commands} Commands */

/**
 * @typedef {object} Terms
 * @property {ConstructorParameters<typeof TabReporter>[0]} introduction
 * @property {Omit<Commands, "learn">} commands
 * @property {(greeting: any) => void} learn takes the server's greeting
 * @property {() => void} opened called when it knows the tabs
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

  /** @param {import("./tab-reporter.js").TabChange} item */
  report(item) {
    this.#reporter.report(item);
  }
}

/** They end what was set up in a tab for an agent. */
const RELEASES = new Set(["tabs.release", "tabs.ungroup"]);

/** All of them. */
class Servers {
  /** @type {Set<Server>} */
  #all = new Set();

  /** @param {Server} server */
  add(server) {
    this.#all.add(server);
    return server;
  }

  /**
   * A server is gone for good, and cannot release its tabs any more.
   * @param {Server} server
   */
  remove(server) {
    this.#all.delete(server);
    for (const tabId of server.tabs) if (!this.#isUsed(tabId)) void releaseTab({ tabId });
  }

  /**
   * What one server ends in a tab must not end what another one does there.
   * @param {Server} server
   * @param {Commands["run"]} run
   * @returns {Commands["run"]}
   */
  sharing(server, run) {
    return async (name, context) => {
      const { tabId } = context;
      if (RELEASES.has(name)) {
        server.tabs.delete(tabId);
        if (this.#isUsed(tabId)) return {};
      } else if (Number.isInteger(tabId)) server.tabs.add(tabId);
      return run(name, context);
    };
  }

  /** @param {number} tabId */
  #isUsed(tabId) {
    return [...this.#all].some(({ tabs }) => tabs.has(tabId));
  }

  /** @param {number} tabId */
  forget(tabId) {
    for (const { tabs } of this.#all) tabs.delete(tabId);
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
  register({ name: "servers", forget: (tabId) => servers.forget(tabId) });
  return servers;
}
