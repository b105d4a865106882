/**
 * Remote access to this browser: the connection to the proxy, the clients that are there, and what
 * the person lets each of them do.
 */

import { heldTabs } from "../debugger/debugger.js";
import { noteFailure } from "../link/command-dispatch.js";
import { browserName } from "../link/tab-reporter.js";
import { CommandError, toWire } from "../shared/command-errors.js";
import { note, noteFault } from "../shared/journal.js";
import {
  isLower,
  readRemote,
  saveClients,
  saveEnded,
  saveRefused,
  saveStopped,
  socketAddress,
} from "../shared/remote-settings.js";
import { readPairing, readProfileId } from "../shared/server-pairing.js";
import { register } from "../shared/tab-state.js";
import { letGo } from "./cdp-commands.js";
import { ProxySocket } from "./proxy-socket.js";
import { RemoteClient } from "./remote-client.js";

const HOLDER = "remote ";
const LONGEST_NAME = 100;

/** @typedef {import("./fence.js").Level} Level */
/** @typedef {import("./remote-client.js").Host} Host */
/** @typedef {import("../link/line.js").Line} Line */
/** @typedef {import("../link/line.js").Request} Request */
/** @typedef {import("../link/line.js").Notification} Notification */

/** @typedef {import("../shared/remote-settings.js").RemoteState} RemoteState */
/** @typedef {import("../shared/remote-settings.js").Service} Service */

/**
 * @typedef {object} Terms
 * @property {Promise<unknown>} ready settles when commands may run
 * @property {Host["run"]} run
 * @property {Host["reportTabChanges"]} reportTabChanges
 * @property {Host["uses"]} uses
 * @property {Host["takeLink"]} takeLink
 * @property {(client: RemoteClient) => void} left a client's connection has ended
 * @property {(name: string) => void} revoked a client may do less than before
 * @property {() => void} ended nobody may go on
 * @property {() => void} changed
 */

export class RemoteAccess {
  /** @type {Map<string, RemoteClient>} by connection */
  #clients = new Map();
  /** @type {import("../shared/remote-settings.js").RemoteSettings | null} */
  #settings = null;
  #isManaged = false;
  /** @type {Map<number, string>} */
  #owners = new Map();
  /** @type {Promise<void>} the last change of the settings */
  #last = Promise.resolve();
  #terms;
  /** @type {Host} */
  #host;
  #socket = new ProxySocket({
    service: () => this.#service(),
    describe: async () => ({ name: browserName(), profile_id: await readProfileId() }),
    begin: (line) => (message) => this.#receive(line, message),
    closed: () => this.#keep([]),
    refused: (token, why) => {
      note("warn", `the proxy does not take the token: ${why}`);
      // Nobody can come back before the person has entered another one.
      this.#endAll();
      void saveRefused(token);
    },
    changed: () => this.#terms.changed(),
  });

  /** @param {Terms} terms */
  constructor(terms) {
    this.#terms = terms;
    const { run, reportTabChanges, uses, takeLink } = terms;
    const levelOf = (/** @type {string} */ name) => this.levelOf(name);
    this.#host = { run, reportTabChanges, uses, takeLink, levelOf, owners: this.#owners };
    register({ name: "remote owners", forget: (tabId) => this.#owners.delete(tabId) });
    void terms.ready.then(forgetEarlierHolds);
  }

  async start() {
    await this.#learn();
    this.#terms.changed();
    this.#socket.rescue();
  }

  rescue() {
    this.#socket.rescue();
  }

  /** The settings have changed. */
  reconsider() {
    return this.#inTurn(() => this.#reconsider());
  }

  /**
   * A change is made of what was read before, so two at once could undo each other.
   * @param {() => Promise<void>} work
   */
  async #inTurn(work) {
    const turn = this.#last.then(work);
    this.#last = turn.catch(noteFault);
    await turn;
  }

  async #reconsider() {
    const [before, service] = [this.#levels(), this.#settings?.service];
    await this.#learn();
    const after = this.#levels();
    for (const [name, level] of before) if (isLower(after.get(name), level)) this.#revoke(name);
    if (this.#settings?.isEnded || !isSameService(service, this.#settings?.service)) this.#endAll();
    this.#terms.changed();
    await this.#socket.reconsider();
  }

  /** @returns {Map<string, Level>} those of the clients that may do anything */
  #levels() {
    const { clients = {} } = this.#settings ?? {};
    const names = [...Object.keys(clients), ...[...this.#clients.values()].map(({ name }) => name)];
    const levels = names.map((name) => [name, this.levelOf(name)]);
    return new Map(/** @type {[string, Level][]} */ (levels.filter(([, level]) => level)));
  }

  /**
   * What runs was begun under a higher level.
   * @param {string} name
   */
  #revoke(name) {
    for (const client of this.#clients.values()) if (client.name === name) client.end();
    this.#terms.revoked(name);
  }

  #endAll() {
    for (const client of this.#clients.values()) client.end();
    this.#terms.ended();
  }

  async #learn() {
    const [settings, pairing] = await Promise.all([readRemote(), readPairing()]);
    this.#settings = settings;
    this.#isManaged = pairing?.isManaged === true;
  }

  async #service() {
    await this.#learn();
    const { service, isEnded, refusedToken } = await readRemote();
    return isEnded || service?.token === refusedToken ? null : service;
  }

  /**
   * @param {string} name
   * @returns {Level | null} what the client may do now
   */
  levelOf(name) {
    return this.#settings?.isEnded ? null : this.#chosen(name);
  }

  /**
   * @param {string} name
   * @returns {Level | null} what the person lets the client do
   */
  #chosen(name) {
    if (this.#isManaged) return "everything";
    const { clients = {} } = this.#settings ?? {};
    return Object.hasOwn(clients, name) ? clients[name] : null;
  }

  /**
   * @param {Line} line
   * @param {Request | Notification} message
   */
  #receive(line, message) {
    if (message.kind === "request") void this.#answer(line, message);
    else if (message.method === "status") this.#keep(message.params.clients);
    else if (message.method === "disconnected") this.#left(String(message.params.connection_id));
  }

  /** @param {unknown} told the clients that are there now */
  #keep(told) {
    const clients = namesOf(told);
    // An id that belongs to another client now is another connection.
    for (const { id, name } of this.#clients.values()) {
      if (clients.get(id) !== name) this.#left(id);
    }
    for (const [id, name] of clients) {
      if (this.#clients.has(id)) continue;
      this.#clients.set(id, new RemoteClient(id, name, this.#host));
      note("info", "a remote client has connected");
    }
    this.#terms.changed();
  }

  /** @param {string} id */
  #left(id) {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    if (!client) return;
    client.end();
    this.#terms.left(client);
    this.#terms.changed();
  }

  /**
   * @param {Line} line
   * @param {Request} request
   */
  async #answer(line, { id, method, params }) {
    try {
      const result = await this.#call(String(id), method, params);
      if (!line.answer(id, result)) throw tooLarge();
    } catch (error) {
      noteFailure("a remote call", error);
      line.refuse(id, toWire(error));
    }
  }

  /**
   * @param {string} id as the proxy maps it: the connection, a colon, the client's own
   * @param {string} method
   * @param {any} params
   */
  async #call(id, method, params) {
    await this.#terms.ready;
    const client = this.#clients.get(id.split(":")[0]);
    if (!client) throw new CommandError("not_connected", "This connection is not known here.");
    return client.call(method, params);
  }

  /** @returns {RemoteState["state"]} */
  get #stage() {
    const { service, isEnded, isStopped, refusedToken } = this.#settings ?? {};
    if (!service) return "none";
    if (isEnded) return isStopped ? "stopped" : "ended";
    return service.token === refusedToken ? "refused" : this.#socket.state;
  }

  /** @returns {RemoteState} */
  get state() {
    const { service, clients = {} } = this.#settings ?? {};
    const there = Map.groupBy(this.#clients.values(), ({ name }) => name);
    const names = [...new Set([...Object.keys(clients), ...there.keys()])].toSorted();
    return {
      state: this.#stage,
      hosts: service ? hostsOf(service.urls) : "",
      isManaged: this.#isManaged,
      clients: names.map((name) => ({
        name,
        level: this.#chosen(name),
        connections: there.get(name)?.length ?? 0,
      })),
    };
  }

  /**
   * The person lets a client do this much, or nothing.
   * @param {{name: string, level: Level | null}} choice
   */
  allow({ name, level }) {
    return this.#inTurn(async () => {
      const { clients } = await readRemote();
      const { [name]: _, ...others } = clients;
      await saveClients(level === null ? others : { ...others, [name]: level });
      await this.#reconsider();
    });
  }

  /**
   * The one button: every connection ends, and none comes before the person wants it.
   * @param {boolean} isEnded
   */
  setEnded(isEnded) {
    return this.#inTurn(async () => {
      await saveEnded(isEnded);
      await this.#reconsider();
    });
  }

  /**
   * The brake, which stops every agent wherever it is.
   * @param {boolean} isStopped
   */
  setStopped(isStopped) {
    return this.#inTurn(async () => {
      await saveStopped(isStopped);
      await this.#reconsider();
    });
  }
}

/** @param {string[]} urls */
function hostsOf(urls) {
  return urls.map((url) => socketAddress(url)?.host).join(", ");
}

/**
 * @param {unknown} told as the proxy's `status` has it
 * @returns {Map<string, string>} the name of each client, by its connection
 */
function namesOf(told) {
  const clients = Array.isArray(told) ? told : [];
  const named = clients.flatMap((/** @type {any} */ client) => {
    const { connection_id: id, name } = client ?? {};
    return typeof id === "string" ? [[id, String(name ?? "").slice(0, LONGEST_NAME)]] : [];
  });
  return new Map(/** @type {[string, string][]} */ (named));
}

/**
 * Another token for it is no other service.
 * @param {Service | null | undefined} a
 * @param {Service | null | undefined} b
 */
function isSameService(a, b) {
  return String(a?.urls) === String(b?.urls);
}

/** The connections of an earlier worker have ended with it. */
function forgetEarlierHolds() {
  for (const [tabId, reasons] of heldTabs()) {
    for (const why of reasons) if (why.startsWith(HOLDER)) letGo([tabId], why);
  }
}

function tooLarge() {
  return new CommandError("too_large", "The result is larger than the proxy carries.");
}
