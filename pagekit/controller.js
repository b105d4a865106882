/**
 * The controller in the worker: it keeps the tabs of this origin with their ports, reports their
 * tools to the server, and sends each call to its tab.
 */

import { connection, refusal } from "./connection.js";
import { on } from "./events.js";
import { whenReleased } from "./locks.js";
import { Tab } from "./tab.js";
import { newTabId } from "./tabid.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */
/** @typedef {{success: boolean, payload: unknown}} Outcome */
/** @typedef {PromiseWithResolvers<Outcome> & {port: MessagePort, callId: string}} Call */

const BATCH_MS = 20;
const ANSWER_MS = 2000;

export class MCPController {
  /** @type {Map<string, Tab>} */
  #tabs = new Map();
  /** @type {Map<number, Call>} the running calls, each sent to one port */
  #calls = new Map();
  #lastCall = 0;
  /** @type {Tab | undefined} */
  #active;
  /** @type {ReturnType<typeof connection> | undefined} */
  #connection;
  /** @type {Status | null} */
  #status = null;
  #lock;

  /** @param {string} [lock] the name of a lock that this worker holds until it ends */
  constructor(lock) {
    this.#lock = lock;
  }

  /** @param {MessagePort} port */
  addPort(port) {
    port.onmessage = ({ data }) => this.#receive(port, data);
    on(port, "close", () => this.#drop(port));
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
    this.#reportActive();
  }

  /**
   * Sets the tab that the person looks at; null if there is none.
   * @param {{tabId: string | null}} data
   */
  handleSetActiveTab({ tabId }) {
    this.#active = this.#tabs.get(tabId ?? "");
    this.#reportActive();
    this.#connection?.open();
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #receive(port, message) {
    const { type, ...tool } = message;
    const tab = this.#tabOf(port);
    if (type === "REGISTER_TAB") void this.handleRegisterTab(message, port);
    if (!tab) return;
    const { callId, success, result, error, ...progress } = tool;
    const running = this.#calls.get(callId);
    // Only the port that was called can answer.
    const call = running?.port === port ? running : null;
    const tools = tab.ports.get(port);
    /** @type {Record<string, () => unknown>} */
    const handlers = {
      TOOL_CALL_RESULT: () => call?.resolve({ success, payload: success ? result : error }),
      TOOL_CALL_PROGRESS: () =>
        call && this.#send("tool.progress", { dispatchId: call.callId, ...progress }),
      SET_ACTIVE_TAB: () => this.#updatePage(tab, message),
      REGISTER_TOOL: () => tools?.set(tool.name, tool),
      UNREGISTER_TOOL: () => tools?.delete(tool.name),
      UNREGISTER_TAB: () => this.#drop(port),
      INIT: () => this.#connect(message.backendUrl),
      HERE: () => tab.check?.resolve(),
    };
    if (handlers[type]?.()) this.#scheduleReport(tab);
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
    this.#endCalls("page_may_have_received", (call) => call.port === port);
    tab.ports.delete(port);
    if (tab.ports.size) return this.#scheduleReport(tab);
    this.#tabs.delete(tab.id);
    clearTimeout(tab.timer);
    tab.check?.resolve();
    this.#send("browser/unregisterTools", { tabId: tab.id });
    if (this.#active === tab) this.#activateLastShown();
    else this.#reportActive();
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
    this.#send("browser/registerTools", { ...tab.page, tools: tab.tools() });
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

  /** Reports the active tab to the server, and all tabs to each of them. */
  #reportActive() {
    const active = this.#active;
    this.#send("browser/activeTab", { tabId: active?.id ?? null });
    const tabs = this.#all.map((tab) => ({ ...tab.page, isActive: tab === active }));
    this.#broadcast({ type: "TAB_LIST_UPDATED", tabs });
  }

  /** @param {object} message */
  #broadcast(message) {
    this.#all.forEach((tab) => tab.post(message));
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  #send(method, params) {
    this.#connection?.send(method, params);
  }

  /** @param {string} url */
  #connect(url) {
    this.#connection ??= connection(url, this.#methods(), (status) => this.#setStatus(status));
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
      "page/unpaired": (asked) => this.#setStatus({ state: "unpaired", ...asked }),
      "browser/executeTool": (request) => this.#call(request),
      "tool.cancel": ({ dispatchId }) =>
        this.#endCalls("cancelled", ({ callId }) => callId === dispatchId),
    };
  }

  #accept() {
    this.#all.forEach((tab) => this.#reportTools(tab));
    this.#reportActive();
    this.#setStatus({ state: "connected" });
  }

  /** @param {{tabId: string, toolName: string, args: unknown, callId: string}} request */
  async #call({ tabId, toolName, args, callId }) {
    const tab = this.#tabs.get(tabId);
    if (!tab) throw refusal("tab_not_found");
    const port = tab.portOf(toolName);
    if (!port) throw refusal("no_tab_for_tool");
    const id = ++this.#lastCall;
    const call = { ...Promise.withResolvers(), port, callId };
    this.#calls.set(id, call);
    port.postMessage({ type: "CALL_TOOL", toolName, args, callId: id, targetTabId: tabId });
    return call.promise.finally(() => this.#calls.delete(id));
  }

  /**
   * Cancels the calls that match, and rejects them with this reason.
   * @param {TabhubReason} reason
   * @param {(call: Call) => boolean} matches
   */
  #endCalls(reason, matches) {
    this.#calls.forEach((call, callId) => {
      if (!matches(call)) return;
      call.port.postMessage({ type: "CANCEL_CALL", callId });
      call.reject(refusal(reason));
    });
  }
}
