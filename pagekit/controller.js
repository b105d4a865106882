/**
 * The controller in the worker: it keeps the tabs of this origin with their ports, reports their
 * tools to the server, and sends each call to its tab.
 */

import { Calls } from "./calls.js";
import { Connection, Refusal } from "./connection.js";
import { on } from "./events.js";
import { whenReleased } from "./locks.js";
import { Tab } from "./tab.js";
import { newTabId } from "./tabid.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */

const BATCH_MS = 20;
const ANSWER_MS = 2000;

export class MCPController {
  /** @type {Map<string, Tab>} */
  #tabs = new Map();
  #calls = new Calls();
  /** @type {Tab | undefined} */
  #active;
  /** @type {Connection | null} */
  #connection = null;
  /** @type {Status | null} */
  #status = null;
  #lock;

  /** @param {string} [lock] the name of a lock that this worker holds until it ends */
  constructor(lock) {
    this.#lock = lock;
  }

  /** @param {MessagePort} port */
  addPort(port) {
    on(port, "message", ({ data }) => this.#receive(port, data));
    on(port, "close", () => this.#drop(port));
    port.start();
  }

  /**
   * A tab with the id of another tab that still runs is a duplicate and gets a new id. Clients with
   * the same context are in the same tab.
   * @param {{tabId: string, url: string, title: string, lock?: string, context?: string}} data
   * @param {MessagePort} port
   */
  async handleRegisterTab(data, port) {
    const { context = port } = data;
    const id = (await this.#isTaken(data.tabId, context)) ? newTabId() : data.tabId;
    const tab = this.#all.find((tab) => tab.context === context) ?? new Tab(id, context);
    tab.update(data);
    tab.ports.set(port, new Map());
    const { id: tabId } = tab;
    this.#tabs.set(tabId, tab);
    whenReleased(data.lock, () => this.#drop(port));
    port.postMessage({ type: "TAB_REGISTERED", tabId, lock: this.#lock, status: this.#status });
    this.#reportTools(tab);
    this.#broadcastTabs();
  }

  /**
   * Sets the tab that the person looks at; null if there is none.
   * @param {{tabId: string | null}} data
   */
  handleSetActiveTab({ tabId }) {
    this.#active = this.#tabs.get(tabId ?? "");
    this.#reportActive();
    this.#broadcastTabs();
    this.#connection?.open();
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #receive(port, message) {
    const { type } = message;
    const tab = this.#tabOf(port);
    if (type === "REGISTER_TAB") void this.handleRegisterTab(message, port);
    if (!tab) return;
    if (type === "TOOL_CALL_RESULT") this.#finishCall(port, message);
    if (type === "TOOL_CALL_PROGRESS") this.#reportProgress(port, message);
    if (type === "SET_ACTIVE_TAB") this.#updatePage(tab, message);
    if (type === "REGISTER_TOOL") this.#addTool(tab, port, message);
    if (type === "UNREGISTER_TOOL" && tab.ports.get(port)?.delete(message.name))
      this.#scheduleReport(tab);
    if (type === "UNREGISTER_TAB") this.#drop(port);
    if (type === "INIT") this.#connect(message.backendUrl);
    if (type === "HERE") tab.check?.resolve();
  }

  get #all() {
    return [...this.#tabs.values()];
  }

  /** @param {MessagePort} port */
  #tabOf(port) {
    return this.#all.find((tab) => tab.ports.has(port));
  }

  /**
   * Whether the id belongs to another tab that still runs. After a reload the old document may be
   * listed for a while: it does not answer, and is removed when its port closes or its
   * lock is released.
   * @param {string} id
   * @param {unknown} context
   */
  async #isTaken(id, context) {
    const holder = this.#tabs.get(id);
    if (!holder || holder.context === context) return false;
    const check = (holder.check ??= Promise.withResolvers());
    holder.post({ type: "ARE_YOU_THERE" });
    setTimeout(check.resolve, ANSWER_MS);
    await check.promise;
    holder.check = undefined;
    return this.#tabs.has(id);
  }

  /** @param {MessagePort} port */
  #drop(port) {
    const tab = this.#tabOf(port);
    if (!tab) return;
    this.#calls.end("page_may_have_received", (call) => call.port === port);
    tab.ports.delete(port);
    if (tab.ports.size) return this.#scheduleReport(tab);
    this.#tabs.delete(tab.id);
    clearTimeout(tab.timer);
    tab.check?.resolve();
    this.#connection?.send("browser/unregisterTools", { tabId: tab.id });
    if (this.#active === tab) this.#activateLastShown();
    else this.#broadcastTabs();
  }

  /**
   * @param {Tab} tab
   * @param {MessagePort} port
   * @param {any} message
   */
  #addTool(tab, port, { type, tabId, handlerType, ...tool }) {
    tab.ports.get(port)?.set(tool.name, tool);
    this.#scheduleReport(tab);
  }

  /**
   * A page registers its tools one by one, so changes within a short time are reported together.
   * @param {Tab} tab
   */
  #scheduleReport(tab) {
    clearTimeout(tab.timer);
    tab.timer = setTimeout(() => this.#reportTools(tab), BATCH_MS);
  }

  /** @param {Tab} tab */
  #reportTools(tab) {
    this.#connection?.send("browser/registerTools", { ...tab.page, tools: tab.tools() });
  }

  /**
   * @param {Tab} tab
   * @param {{url: string, title: string, isShown: boolean}} page
   */
  #updatePage(tab, page) {
    if (tab.update(page)) this.#scheduleReport(tab);
    if (page.isShown) this.handleSetActiveTab({ tabId: tab.id });
    else if (this.#active === tab) this.#activateLastShown();
  }

  /** Another window may still show a tab of this origin. */
  #activateLastShown() {
    const shown = this.#all.filter((tab) => tab.isShown);
    const [last] = shown.sort((a, b) => b.lastSeen - a.lastSeen);
    this.handleSetActiveTab({ tabId: last?.id ?? null });
  }

  #reportActive() {
    this.#connection?.send("browser/activeTab", { tabId: this.#active?.id ?? null });
  }

  #broadcastTabs() {
    const tabs = this.#all.map((tab) => {
      return { ...tab.page, lastSeen: tab.lastSeen, isActive: tab === this.#active };
    });
    this.#broadcast({ type: "TAB_LIST_UPDATED", tabs });
  }

  /** @param {object} message */
  #broadcast(message) {
    this.#all.forEach((tab) => tab.post(message));
  }

  /** @param {string} url */
  #connect(url) {
    this.#connection ??= new Connection(url, this.#methods(), (status) => this.#setStatus(status));
    this.#connection.open();
  }

  /** @param {Status} status */
  #setStatus(status) {
    this.#status = status;
    this.#broadcast({ type: "CONNECTION_STATUS", status });
  }

  /** @returns {Record<string, import("./connection.js").Method>} */
  #methods() {
    return {
      "page/ready": () => this.#accept(),
      "page/unpaired": ({ code, message }) => this.#setStatus({ state: "unpaired", code, message }),
      "browser/executeTool": (request) => this.#call(request),
      "tool.cancel": ({ dispatchId }) =>
        this.#calls.end("cancelled", ({ callId }) => callId === dispatchId),
    };
  }

  #accept() {
    this.#connection?.accepted();
    this.#all.forEach((tab) => this.#reportTools(tab));
    this.#reportActive();
    this.#setStatus({ state: "connected" });
  }

  /** @param {{tabId: string, toolName: string, args: unknown, callId: string}} request */
  async #call(request) {
    const { tabId, toolName } = request;
    const tab = this.#tabs.get(tabId);
    if (!tab) throw new Refusal("tab_not_found");
    const port = tab.portOf(toolName);
    if (!port) throw new Refusal("no_tab_for_tool");
    return this.#calls.send(port, tabId, request);
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #finishCall(port, { callId, success, result, error }) {
    this.#calls.of(port, callId)?.resolve({ success, payload: success ? result : error });
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #reportProgress(port, { callId, progress, total, message }) {
    const dispatchId = this.#calls.of(port, callId)?.callId;
    if (dispatchId)
      this.#connection?.send("tool.progress", { dispatchId, progress, total, message });
  }
}
