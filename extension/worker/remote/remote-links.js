/**
 * The tabhub servers that reach this browser through the proxy. Each has its link in a tunnel, and
 * sends commands as the server on this machine does, but behind the fence.
 */

import { Line } from "../link/line.js";
import { take } from "../link/link.js";
import { offerOf, ownEnd } from "../link/protocol-versions.js";
import { Server } from "../link/servers.js";
import { introduceBrowser } from "../link/tab-reporter.js";
import { Tunnels } from "../link/tunnel.js";
import { messageOf } from "../shared/command-errors.js";
import { note } from "../shared/journal.js";
import { requireLevel, requireRemotePage, runFenced } from "./fence.js";

/** The person has taken something from a client: its server has to begin again. */
const REVOKED = 4403;

/** @typedef {import("./fence.js").Guest} Guest */
/** @typedef {Parameters<ConstructorParameters<typeof Tunnels>[0]>[1]} TunnelSocket */
/** @typedef {import("../link/command-dispatch.js").Commands} Commands */
/** @typedef {{id: string, name: string}} Connection */

/**
 * @typedef {object} Terms what all servers share
 * @property {ReturnType<typeof import("../link/servers.js").keepServers>} servers
 * @property {Pick<Commands, "ready" | "run" | "reportTabChanges">} commands
 * @property {ReturnType<typeof import("../page_tools/page-tool-registry.js").keepPageTools>} pageTools
 * @property {import("../plugins/plugin-host.js").PluginHost} pluginHost
 * @property {(name: string) => Guest["level"]} levelOf
 */

export class RemoteLinks {
  /** @type {Map<TunnelSocket, string>} open ones, with the names of their clients */
  #sockets = new Map();
  #tunnels = new Tunnels(
    (connection, socket) => this.#open(connection, socket),
    () => offerOf(ownEnd()),
  );
  #terms;

  /** @param {Terms} terms */
  constructor(terms) {
    this.#terms = terms;
  }

  /**
   * @param {Connection} connection
   * @param {unknown} params
   */
  take({ id, name }, params) {
    return this.#tunnels.take({ id, name }, params);
  }

  /** @param {Connection} connection that has ended; its server may come back on another one */
  left({ id }) {
    this.#tunnels.left(id);
  }

  /** @param {string} name of a client that may do less than before */
  revoked(name) {
    for (const [socket, client] of this.#sockets) if (client === name) socket.close(REVOKED);
  }

  /** Also those whose connection is lost, and which could come back on another one. */
  endAll() {
    this.#tunnels.closeAll(REVOKED);
  }

  /**
   * @param {Connection} connection
   * @param {TunnelSocket} socket
   */
  #open({ name }, socket) {
    const { servers, pageTools, pluginHost, levelOf } = this.#terms;
    const guest = Object.defineProperty({ name }, "level", { get: () => levelOf(name) });
    const line = new Line(socket);
    const plugins = pluginHost.of({
      tell: (method, params) => server.tell(method, params),
      ask: (method, params) => line.request(method, params),
      hasFiles: false,
      refusal: () => refusalOf(/** @type {Guest} */ (guest)),
    });
    const server = this.#serverOf(/** @type {Guest} */ (guest), plugins);
    this.#sockets.set(socket, name);
    servers.add(server);
    const receive = server.begin(line);
    note("info", "the link to a remote server is open");
    socket.onmessage = ({ data }) => take(data, line, receive);
    socket.onclose = () => {
      note("info", "the link to a remote server has closed");
      this.#sockets.delete(socket);
      line.ended();
      servers.remove(server);
      pageTools.left(server);
      plugins.closed();
    };
  }

  /**
   * @param {Guest} guest
   * @param {NonNullable<Commands["plugins"]>} plugins
   * @returns {Server}
   */
  #serverOf(guest, plugins) {
    const { servers, pageTools, commands } = this.#terms;
    /** @type {Commands["run"]} */
    const run = (name, context) => runFenced(guest, name, context, shared);
    /** @type {Commands["execute"]} */
    const execute = async (params, how) => {
      requireLevel(guest, "act", "a tool of a page");
      await requireRemotePage(params.tabId);
      return pageTools.execute(params, how);
    };
    const setOrigins = (/** @type {any} */ params) => pageTools.setOrigins(server, params);
    const server = new Server({
      // It has no panel: what it asks the person, it asks at its own end.
      introduction: (brief) => introduceBrowser(() => 0, brief),
      commands: { ...commands, run, execute, setOrigins, plugins },
      learn: setOrigins,
      opened: () => pageTools.opened(server),
    });
    const shared = servers.uses.sharing(server, commands.run);
    return server;
  }
}

/**
 * @param {Guest} guest
 * @returns {string | null} why its plugins may not run here
 */
function refusalOf(guest) {
  try {
    requireLevel(guest, "everything", "a plugin");
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
