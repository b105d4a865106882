/**
 * A double of a browser, its pages and a server, made from a recorded run: it sends the recorded
 * events and messages, and gives the recorded answers to requests of the worker. State that outlives
 * a worker is kept in `world`, which is plain data: the next worker can start from a copy of it.
 */

import { createHmac } from "node:crypto";

const SECRET = "secret";
const SLOT_SIZE = 100_000;
const EVENTS = /^on[A-Z]/;

/** @typedef {ReturnType<typeof newWorld>} World */

export function newWorld() {
  return {
    /** @type {Record<string, any>} */
    session: {},
    /** @type {Record<string, any>} */
    local: {},
    /** @type {number[]} */
    attached: [],
    /** @type {Record<number, any>} */
    tabs: {},
    /** @type {Record<number, any>} the documents with a content script, by the number of their port */
    documents: {},
    /** The time of the snapshot, so that no request becomes overdue while tests wait for each other. */
    at: Date.now(),
    /** @type {Record<string, number>} how often each request was made */
    asked: {},
  };
}

const copy = (value) => (value === undefined ? undefined : structuredClone(value));
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** An event of the browser: calls every listener at once. */
class Source {
  #listeners = new Set();
  addListener = (listener) => void this.#listeners.add(listener);
  removeListener = (listener) => void this.#listeners.delete(listener);
  emit = (...args) => this.#listeners.forEach((listener) => listener(...args));
}

/** A JSON text that does not depend on the order of keys. */
export function sorted(value) {
  const inOrder = (_, item) =>
    item && typeof item === "object" && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item;
  return JSON.stringify(value, inOrder);
}

/** The key of a request: requests with the same key are answered in the recorded order. */
function keyOf(path, args) {
  if (path !== "debugger.sendCommand") return `${path} ${sorted(args)}`;
  const [{ tabId, sessionId }, method] = args;
  return `${tabId} ${sessionId ?? ""} ${method}`;
}

export class Double {
  /** @type {Map<string, any[]>} */
  #answers = new Map();
  #sources = new Map();
  #ports = new Map();
  #socket = null;
  #greeting;
  /** @type {Set<unknown>} requests of the server that the worker has not answered yet */
  #running = new Set();
  /** How many requests the worker has sent to the browser or a page. */
  asked = 0;

  /**
   * @param {any[]} run
   * @param {World} world
   */
  constructor(run, world) {
    this.world = world;
    const documents = new Map();
    for (const entry of run) {
      if (entry.event === "port") documents.set(entry.port, entry.sender.documentId);
      if (entry.call) this.#keep(keyOf(entry.call, entry.args), entry);
      if (entry.post) this.#keep(`${documents.get(entry.post)} ${entry.type}`, entry);
      if (entry.send) this.#keep(`send ${entry.send}`, entry);
    }
    this.#greeting = run.find(({ message }) => message?.method === "sync.full")?.message;
  }

  #keep(key, entry) {
    this.#answers.set(key, [...(this.#answers.get(key) ?? []), entry]);
  }

  #next(key) {
    const known = this.#answers.get(key) ?? [];
    const number = this.world.asked[key] ?? 0;
    this.world.asked[key] = number + 1;
    return known[number] ?? known.at(-1);
  }

  /** Defines the globals that a worker uses. */
  install() {
    const double = this;
    const known = this.#known();
    const space = (/** @type {string} */ path) =>
      new Proxy(() => {}, {
        get: (_, name) => {
          const full = path ? `${path}.${String(name)}` : String(name);
          if (known.has(full)) return known.get(full);
          return EVENTS.test(String(name)) ? double.source(full) : space(full);
        },
        apply: (_, __, args) => double.#answer(path, args),
      });
    Object.assign(globalThis, {
      self: globalThis,
      chrome: space(""),
      WebSocket: this.#socketClass(),
    });
    globalThis.addEventListener ??= () => {};
    globalThis.fetch = (url) => this.#fetch(String(url));
  }

  source(path) {
    if (!this.#sources.has(path)) this.#sources.set(path, new Source());
    return this.#sources.get(path);
  }

  /** Calls with a real implementation instead of a recorded answer. */
  #known() {
    const { world } = this;
    const area = (kept) => ({
      get: async (keys) => {
        const names = keys === undefined || keys === null ? Object.keys(kept) : [keys].flat();
        const known = names.filter((name) => name in kept).map((name) => [name, kept[name]]);
        const found = copy(Object.fromEntries(known));
        await tick();
        return found;
      },
      // Immediately: a writer pauses for as long as a write took, and this machine may be busy.
      set: async (values) => void Object.assign(kept, copy(values)),
      remove: async (key) => void delete kept[key],
    });
    const [session, local] = [area(world.session), area(world.local)];
    return new Map(
      Object.entries({
        "runtime.id": "tabhub",
        "runtime.lastError": undefined,
        "runtime.getURL": (path) => `chrome-extension://tabhub/${path}`,
        "runtime.getManifest": () => ({ version: "0", content_scripts: [] }),
        "windows.WINDOW_ID_NONE": -1,
        "tabs.TAB_ID_NONE": -1,
        "storage.session.get": session.get,
        "storage.session.set": session.set,
        "storage.session.remove": session.remove,
        "storage.local.get": local.get,
        "storage.local.set": local.set,
        "scripting.getRegisteredContentScripts": async () => [], // only plugins register some
        "tabs.get": (tabId) => this.#tab(tabId),
        "tabs.query": (query) => this.#tabs(query),
        "debugger.attach": ({ tabId }) => this.#attach(tabId),
        "debugger.detach": async ({ tabId }) => this.#detach(tabId),
        "debugger.getTargets": async () => {
          await tick();
          return world.attached.map((tabId) => ({ tabId, attached: true }));
        },
      }),
    );
  }

  async #tab(tabId) {
    await tick();
    if (!this.world.tabs[tabId]) throw new Error(`No tab with id: ${tabId}.`);
    return copy(this.world.tabs[tabId]);
  }

  async #tabs({ active, status, windowId }) {
    await tick();
    const fits = (tab) =>
      (active === undefined || tab.active === active) &&
      (status === undefined || tab.status === status) &&
      (windowId === undefined || tab.windowId === windowId);
    return copy(Object.values(this.world.tabs).filter(fits));
  }

  async #attach(tabId) {
    this.asked++;
    const { attached } = this.world;
    await tick();
    if (attached.includes(tabId)) throw new Error("Another debugger is already attached.");
    attached.push(tabId);
  }

  #detach(tabId) {
    this.world.attached = this.world.attached.filter((id) => id !== tabId);
  }

  async #answer(path, args) {
    if (path === "debugger.sendCommand") {
      this.asked++;
      if (!this.world.attached.includes(args[0].tabId))
        throw new Error("Debugger is not attached.");
    }
    const entry = this.#next(keyOf(path, args));
    await tick();
    if (entry?.error !== undefined) throw new Error(entry.error);
    // A request without a recorded answer gets none.
    if (entry && !entry.answer) return new Promise(() => {});
    if (path === "tabs.create") this.world.tabs[entry.answer[0].id] ??= copy(entry.answer[0]);
    return copy(entry?.answer[0]) ?? (path === "debugger.sendCommand" ? {} : undefined);
  }

  async #fetch(url) {
    const pairing = { port: 1, secret: SECRET, managed: true };
    const challenge = new URL(url).searchParams.get("challenge");
    const proof = createHmac("sha256", SECRET).update(`tabhub:1:${challenge}`).digest("hex");
    return { ok: true, json: async () => (challenge ? { proof } : pairing) };
  }

  #socketClass() {
    const double = this;
    return class {
      static OPEN = 1;
      readyState = 0;
      constructor() {
        double.#socket = this;
        setImmediate(() => {
          this.readyState = 1;
          this.onopen?.();
          if (double.#greeting) double.#receive(double.#greeting);
        });
      }
      send(data) {
        const { id, method } = JSON.parse(data);
        if (method === undefined) double.#running.delete(id);
        if (method === undefined || id === undefined) return;
        const entry = double.#next(`send ${method}`);
        if (entry?.answer) setImmediate(() => double.#receive({ ...entry.answer[0], id }));
      }
      close() {}
    };
  }

  get isBusy() {
    return this.#running.size > 0;
  }

  #receive(message) {
    if (message.method !== undefined && message.id !== undefined) this.#running.add(message.id);
    this.#socket?.onmessage?.({ data: JSON.stringify(message) });
  }

  /**
   * Applies an event to the world, then calls the listeners.
   * @param {any} entry
   */
  replay(entry) {
    const { event, args } = entry;
    if (event === "socket")
      return entry.message.method === "sync.full" || this.#receive(entry.message);
    if (event === "port") return this.#connect(entry.port, entry);
    if (event === "port.message") return this.#say(entry.port, entry.message);
    if (event === "port.gone") return this.#leave(entry.port);
    this.#happened(event, args);
    this.source(event).emit(...copy(args));
  }

  #happened(event, args) {
    const { tabs } = this.world;
    // Separate events report the active tab and its page: a worker that starts between the two
    // would otherwise know them earlier than a worker that waits for the events.
    const { active = false, url = "" } = tabs[args[0].id ?? args[0]] ?? {};
    if (event === "tabs.onCreated") tabs[args[0].id] = { ...args[0], active, url };
    if (event === "tabs.onUpdated") tabs[args[0]] = { ...args[2], active, url };
    if (event === "tabs.onActivated") {
      for (const tab of Object.values(tabs)) {
        if (tab.windowId === args[0].windowId) tab.active = tab.id === args[0].tabId;
      }
    }
    if (event === "tabs.onRemoved") {
      this.#close(args[0]);
    }
    if (event === "debugger.onDetach") this.#detach(args[0].tabId);
    const shows = event === "webNavigation.onCommitted" && args[0].frameId === 0;
    if (shows && tabs[args[0].tabId]) {
      tabs[args[0].tabId].url = args[0].url;
      delete tabs[args[0].tabId].pendingUrl;
    }
    const goes = event === "webNavigation.onBeforeNavigate" && args[0].frameId === 0;
    if (goes && tabs[args[0].tabId]) tabs[args[0].tabId].pendingUrl = args[0].url;
  }

  #close(tabId) {
    const { tabs, documents } = this.world;
    delete tabs[tabId];
    this.#detach(tabId);
    const isGone = (number) => documents[number].sender.tab.id === tabId;
    for (const number of Object.keys(documents).filter(isGone)) delete documents[number];
  }

  #connect(number, { name, sender }) {
    this.world.documents[number] ??= { name, sender, sent: {} };
    const [onMessage, onDisconnect] = [new Source(), new Source()];
    const asks = (question) => void this.#asks(number, question);
    const postMessage = (message) => [message].flat().forEach(asks);
    this.#ports.set(number, { onMessage, onDisconnect });
    const port = { name, sender: copy(sender), onMessage, onDisconnect, postMessage };
    this.source("runtime.onConnect").emit({ ...port, disconnect() {} });
  }

  async #asks(number, { id, type }) {
    this.asked++;
    const document = this.world.documents[number];
    const entry = this.#next(`${document?.sender.documentId} ${type}`);
    await tick();
    if (!entry?.answer) return;
    const answer = copy(entry.answer[0]);
    // A content script reports to every worker the range of its ref numbers.
    const next = answer.value?.next;
    if (next !== undefined) {
      document.sent.hello = { type: "hello", range: { slot: Math.floor(next / SLOT_SIZE), next } };
    }
    this.#ports.get(number)?.onMessage.emit({ ...answer, id });
  }

  #say(number, message) {
    const document = this.world.documents[number];
    if (document) document.sent[message.type] = copy(message);
    this.#ports.get(number)?.onMessage.emit(copy(message));
  }

  #leave(number) {
    delete this.world.documents[number];
    this.#ports.get(number)?.onDisconnect.emit();
    this.#ports.delete(number);
  }

  /** The content scripts of the previous worker connect to the next item. */
  reconnect() {
    for (const [number, document] of Object.entries(this.world.documents)) {
      this.#connect(Number(number), document);
      const { hello, ...others } = document.sent;
      delete others.news;
      const messages = [hello ?? [], ...Object.values(others)].flat();
      for (const message of messages) this.#say(Number(number), message);
    }
  }
}
