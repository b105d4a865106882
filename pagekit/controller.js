/**
 * The worker's end: knows the tabs of this origin by their ports, tells the server what they have,
 * and sends each call to the one tab it is for.
 */

import { whenReleased } from "./locks.js";
import { Calls } from "./calls.js";
import { on } from "./events.js";
import { Line, Refusal } from "./connection.js";
import { Tab } from "./tab.js";
import { newTabId } from "./tabid.js";

/** @typedef {import("./pagekit.d.ts").Status} Status */

const GATHER_MS = 20;
const PATIENCE_MS = 2000;

export class MCPController {
  /** @type {Map<string, Tab>} */
  #tabs = new Map();
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
   * A tab that comes with an id which another, living one has is a duplicate and gets a new one;
   * what has the same context is in the same tab.
   * @param {{tabId: string, url: string, title: string, lock?: string, context?: string}} data
   * @param {MessagePort} port
   */
  async handleRegisterTab(data, port) {
    const { context = port } = data;
    const id = (await this.#isTaken(data.tabId, context)) ? newTabId() : data.tabId;
    const tab = this.#all.find((tab) => tab.context === context) ?? new Tab(id, context);
    tab.see(data);
    tab.ports.set(port, new Map());
    const { id: tabId } = tab;
    this.#tabs.set(tabId, tab);
    whenReleased(data.lock, () => this.#drop(port));
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
    const { type } = message;
    const tab = this.#of(port);
    if (type === "REGISTER_TAB") void this.handleRegisterTab(message, port);
    if (!tab) return;
    if (type === "TOOL_CALL_RESULT") this.#answered(port, message);
    if (type === "TOOL_CALL_PROGRESS") this.#progress(port, message);
    if (type === "SET_ACTIVE_TAB") this.#look(tab, message);
    if (type === "REGISTER_TOOL") this.#addTool(tab, port, message);
    if (type === "UNREGISTER_TOOL" && tab.ports.get(port)?.delete(message.name)) this.#soon(tab);
    if (type === "UNREGISTER_TAB") this.#drop(port);
    if (type === "INIT") this.#connect(message.backendUrl);
    if (type === "HERE") tab.clash?.resolve();
  }

  get #all() {
    return [...this.#tabs.values()];
  }

  /** @param {MessagePort} port */
  #of(port) {
    return this.#all.find((tab) => tab.ports.has(port));
  }

  /**
   * Whether the id belongs to another tab that lives. One that has just been reloaded may still be
   * listed: it does not answer, and its lock or its port goes.
   * @param {string} id
   * @param {unknown} context
   */
  async #isTaken(id, context) {
    const holder = this.#tabs.get(id);
    if (!holder || holder.context === context) return false;
    const clash = (holder.clash ??= Promise.withResolvers());
    holder.post({ type: "ARE_YOU_THERE" });
    setTimeout(clash.resolve, PATIENCE_MS);
    await clash.promise;
    holder.clash = undefined;
    return this.#tabs.has(id);
  }

  /** @param {MessagePort} port */
  #drop(port) {
    const tab = this.#of(port);
    if (!tab) return;
    this.#calls.end("page_may_have_received", (call) => call.port === port);
    tab.ports.delete(port);
    if (tab.ports.size) return this.#soon(tab);
    this.#tabs.delete(tab.id);
    clearTimeout(tab.timer);
    tab.clash?.resolve();
    this.#line?.tell("browser/unregisterTools", { tabId: tab.id });
    if (this.#active === tab) this.#lookElsewhere();
    else this.#list();
  }

  /**
   * @param {Tab} tab
   * @param {MessagePort} port
   * @param {any} message
   */
  #addTool(tab, port, { type, tabId, handlerType, ...tool }) {
    tab.ports.get(port)?.set(tool.name, tool);
    this.#soon(tab);
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
    this.#line?.tell("browser/registerTools", { ...tab.page, tools: tab.tools() });
  }

  /**
   * @param {Tab} tab
   * @param {{url: string, title: string, isShown: boolean}} page
   */
  #look(tab, page) {
    if (tab.see(page)) this.#soon(tab);
    if (page.isShown) this.handleSetActiveTab({ tabId: tab.id });
    else if (this.#active === tab) this.#lookElsewhere();
  }

  /** Another window may still show one. */
  #lookElsewhere() {
    const shown = this.#all.filter((tab) => tab.isShown);
    const [last] = shown.sort((a, b) => b.lastSeen - a.lastSeen);
    this.handleSetActiveTab({ tabId: last?.id ?? null });
  }

  #tellActive() {
    this.#line?.tell("browser/activeTab", { tabId: this.#active?.id ?? null });
  }

  #list() {
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
    this.#line ??= new Line(url, this.#methods(), (status) => this.#say(status));
    this.#line.open();
  }

  /** @param {Status} status */
  #say(status) {
    this.#status = status;
    this.#broadcast({ type: "CONNECTION_STATUS", status });
  }

  /** @returns {Record<string, import("./connection.js").Method>} */
  #methods() {
    return {
      "page/ready": () => this.#welcomed(),
      "page/unpaired": ({ code, message }) => this.#say({ state: "unpaired", code, message }),
      "browser/executeTool": (asked) => this.#call(asked),
      "tool.cancel": ({ dispatchId }) =>
        this.#calls.end("cancelled", ({ callId }) => callId === dispatchId),
    };
  }

  #welcomed() {
    this.#line?.welcomed();
    this.#all.forEach((tab) => this.#tell(tab));
    this.#tellActive();
    this.#say({ state: "connected" });
  }

  /** @param {{tabId: string, toolName: string, args: unknown, callId: string}} asked */
  async #call(asked) {
    const { tabId, toolName } = asked;
    const tab = this.#tabs.get(tabId);
    if (!tab) throw new Refusal("tab_not_found");
    const port = tab.portOf(toolName);
    if (!port) throw new Refusal("no_tab_for_tool");
    return this.#calls.send(port, tabId, asked);
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #answered(port, { callId, success, result, error }) {
    this.#calls.of(port, callId)?.resolve({ success, payload: success ? result : error });
  }

  /**
   * @param {MessagePort} port
   * @param {any} message
   */
  #progress(port, { callId, progress, total, message }) {
    const dispatchId = this.#calls.of(port, callId)?.callId;
    if (dispatchId) this.#line?.tell("tool.progress", { dispatchId, progress, total, message });
  }
}
