/**
 * The worker's end: knows the tabs of this origin by their ports, tells the server what they have,
 * and sends each call to the one tab it is for.
 */

import { whenReleased } from "./alive.js";
import { Calls } from "./calls.js";
import { on } from "./events.js";
import { Line, Refusal } from "./line.js";
import { Tab } from "./tab.js";
import { newTabId } from "./tabid.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */

const GATHER_MS = 20;
const PATIENCE_MS = 2000;

export class MCPController {
  /** @type {Map<string, Tab>} */
  #tabs = new Map();
  /** @type {Map<MessagePort, Tab>} */
  #byPort = new Map();
  /** @type {Map<string, (value?: unknown) => void>} */
  #clashes = new Map();
  #calls = new Calls();
  /** @type {Tab | undefined} */
  #active;
  /** @type {Line | null} */
  #line = null;
  /** @type {Status | null} */
  #status = null;
  #lock;

  /** @param {string} [lock] a lock that this worker holds as long as it lives */
  constructor(lock) {
    this.#lock = lock;
  }

  /** @param {MessagePort} port */
  addPort(port) {
    on(port, "message", ({ data }) => this.#hear(port, data));
    on(port, "close", () => this.#drop(port));
    port.start();
  }

  /**
   * A tab that comes with an id which another, living one has is a duplicate and gets a new one.
   * @param {{tabId: string, url: string, title: string, lock?: string}} data
   * @param {MessagePort} port
   */
  async handleRegisterTab(data, port) {
    const isTaken = await this.#isTaken(data.tabId, port);
    const tab = new Tab(isTaken ? newTabId() : data.tabId, port);
    tab.see(data);
    this.#tabs.set(tab.id, tab);
    this.#byPort.set(port, tab);
    whenReleased(data.lock, () => this.#drop(port));
    const { id: tabId } = tab;
    port.postMessage({ type: "TAB_REGISTERED", tabId, lock: this.#lock, status: this.#status });
    this.#tell(tab);
    this.#list();
  }

  /**
   * The person looks at a tab, or at none.
   * @param {{tabId: string | null}} data
   */
  handleSetActiveTab({ tabId }) {
    this.#active = this.#tabs.get(tabId ?? "");
    this.#tellActive();
    this.#list();
    this.#line?.open();
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #hear(port, message) {
    const tab = this.#byPort.get(port);
    if (message.type === "REGISTER_TAB") void this.handleRegisterTab(message, port);
    else if (tab) this.#hearTab(tab, message);
  }

  /**
   * @param {Tab} tab
   * @param {any} message
   */
  #hearTab(tab, message) {
    const { type } = message;
    if (type === "TOOL_CALL_RESULT") this.#answered(tab, message);
    if (type === "TOOL_CALL_PROGRESS") this.#progress(tab, message);
    if (type === "SET_ACTIVE_TAB") this.#look(tab, message);
    if (type === "REGISTER_TOOL") this.#addTool(tab, message);
    if (type === "UNREGISTER_TOOL") this.#removeTool(tab, message.name);
    if (type === "UNREGISTER_TAB") this.#drop(tab.port);
    if (type === "INIT") this.#connect(message.backendUrl);
    if (type === "HERE") this.#clashes.get(tab.id)?.();
  }

  /**
   * Whether the id belongs to another tab that lives. One that has just been reloaded may still be
   * listed: it does not answer, and its lock or its port goes.
   * @param {string} id
   * @param {MessagePort} port
   */
  async #isTaken(id, port) {
    const holder = this.#tabs.get(id);
    if (!holder || holder.port === port) return false;
    await new Promise((settle) => {
      this.#clashes.set(id, settle);
      holder.port.postMessage({ type: "ARE_YOU_THERE" });
      setTimeout(settle, PATIENCE_MS);
    });
    this.#clashes.delete(id);
    return this.#tabs.has(id);
  }

  /** @param {MessagePort} port */
  #drop(port) {
    const tab = this.#byPort.get(port);
    if (!tab) return;
    this.#byPort.delete(port);
    this.#tabs.delete(tab.id);
    clearTimeout(tab.timer);
    this.#calls.drop(port);
    this.#clashes.get(tab.id)?.();
    this.#line?.tell("browser/unregisterTools", { tabId: tab.id });
    if (this.#active === tab) this.#lookElsewhere();
    else this.#list();
  }

  /**
   * @param {Tab} tab
   * @param {any} message
   */
  #addTool(tab, { type, tabId, handlerType, ...tool }) {
    tab.tools.set(tool.name, tool);
    this.#soon(tab);
  }

  /**
   * @param {Tab} tab
   * @param {string} name
   */
  #removeTool(tab, name) {
    if (tab.tools.delete(name)) this.#soon(tab);
  }

  /**
   * A page registers its tools one after the other: those of a moment are told together.
   * @param {Tab} tab
   */
  #soon(tab) {
    clearTimeout(tab.timer);
    tab.timer = setTimeout(() => this.#tell(tab), GATHER_MS);
  }

  /** @param {Tab} tab */
  #tell(tab) {
    this.#line?.tell("browser/registerTools", tab.told());
  }

  /**
   * @param {Tab} tab
   * @param {{url: string, title: string, isShown: boolean}} page
   */
  #look(tab, page) {
    if (tab.see(page)) this.#soon(tab);
    tab.isShown = page.isShown;
    if (tab.isShown) this.handleSetActiveTab({ tabId: tab.id });
    else if (this.#active === tab) this.#lookElsewhere();
  }

  /** Another window may still show one. */
  #lookElsewhere() {
    const shown = [...this.#tabs.values()].filter((tab) => tab.isShown);
    const tabId = shown.sort((a, b) => b.lastSeen - a.lastSeen)[0]?.id ?? null;
    this.handleSetActiveTab({ tabId });
  }

  #tellActive() {
    this.#line?.tell("browser/activeTab", { tabId: this.#active?.id ?? null });
  }

  #list() {
    const tabs = [...this.#tabs.values()].map((tab) => {
      const { id: tabId, url, title, lastSeen } = tab;
      return { tabId, url, title, lastSeen, isActive: tab === this.#active };
    });
    this.#broadcast({ type: "TAB_LIST_UPDATED", tabs });
  }

  /** @param {object} message */
  #broadcast(message) {
    for (const port of this.#byPort.keys()) port.postMessage(message);
  }

  /** @param {string} url */
  #connect(url) {
    this.#line ??= new Line(url, this.#methods(), (status) => this.#say(status));
    this.#line.open();
  }

  /** @param {Status} status */
  #say(status) {
    this.#status = status;
    this.#broadcast({ type: "CONNECTION_STATUS", status });
  }

  /** @returns {Record<string, import("./line.js").Method>} */
  #methods() {
    return {
      "page/ready": () => this.#welcomed(),
      "page/unpaired": ({ code, message }) => this.#say({ state: "unpaired", code, message }),
      "browser/executeTool": (asked) => this.#call(asked),
      "tool.cancel": ({ dispatchId }) => this.#calls.cancel(dispatchId),
    };
  }

  #welcomed() {
    const line = this.#line;
    if (!line) return;
    line.welcomed();
    for (const tab of this.#tabs.values()) this.#tell(tab);
    this.#tellActive();
    this.#say({ state: "connected" });
  }

  /** @param {{tabId: string, toolName: string, args: unknown, callId: string}} asked */
  async #call(asked) {
    const { tabId, toolName } = asked;
    const tab = this.#tabs.get(tabId);
    if (!tab) throw new Refusal("tab_not_found");
    if (!tab.tools.has(toolName)) throw new Refusal("no_tab_for_tool");
    return this.#calls.send(tab.port, tabId, asked);
  }

  /**
   * @param {Tab} tab
   * @param {any} message
   */
  #answered({ port }, { callId, success, result, error }) {
    this.#calls.of(port, callId)?.resolve({ success, payload: success ? result : error });
  }

  /**
   * @param {Tab} tab
   * @param {any} message
   */
  #progress({ port }, { callId, progress, total, message }) {
    const dispatchId = this.#calls.of(port, callId)?.callId;
    if (dispatchId) this.#line?.tell("tool.progress", { dispatchId, progress, total, message });
  }
}
