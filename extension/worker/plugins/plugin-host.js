/**
 * The plugins whose code servers let run in pages: into which tabs they are injected, where they are
 * ready, and the calls of their tools.
 */

import { onFrame } from "../frames/frames.js";
import { noteFault } from "../shared/journal.js";
import { requireSite, requireTab } from "../shared/known-tabs.js";
import { isStealthy } from "../shared/stealth-tabs.js";
import { register } from "../shared/tab-state.js";
import { RateLimit, within } from "../shared/timing.js";
import { fetchCode, forgetAsked } from "./adapter-files.js";
import { debuggedPreScripts, setPreScripts } from "./debugger-code.js";
import { unlessLeft } from "./page-departure.js";
import { afterwards, elsewhere, notReady, resultOf } from "./plugin-answers.js";
import { PluginCalls, READY_MS, configOf } from "./plugin-calls.js";
import { NotInjected, PluginDocuments, runInPage } from "./plugin-documents.js";
import {
  LOADING,
  ReadinessReports,
  UNLOADED,
  notInjected,
  readinessOf,
} from "./plugin-readiness.js";
import { PluginSources, stateOfFile } from "./plugin-sources.js";
import { registerOnly } from "./pre-scripts.js";
import { isMatch } from "./url-patterns.js";

const POLL_MS = 30_000;
const VISIT_MS = 20_000;
/** How long a worker that has just started waits for the server before pre-scripts end. */
const VOUCH_MS = 5000;
const MOST_PUSHES = 5;

const TAKEN = "A plugin of another server has this name in this browser.";

/** @typedef {import("./plugin-sources.js").Plugin} Plugin */
/** @typedef {import("./plugin-sources.js").Source} Source */
/** @typedef {Plugin & {preScript: string}} Scripted */
/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @typedef {import("./page-runtime.js").Answer} Answer */
/** @typedef {import("./plugin-readiness.js").Readiness} Readiness */
/** @typedef {import("./plugin-calls.js").How} How */

/**
 * @typedef {object} Callbacks
 * @property {() => Promise<void>} reportTabChanges
 * @property {(text: string) => void} note
 */

export class PluginHost {
  #plugins = new PluginSources();
  /** @type {Map<number, string>} the address of each tab */
  #addresses = new Map();
  /** @type {Map<number, Map<string, {again: boolean}>>} under way, by tab and plugin */
  #visits = new Map();
  /** @type {Map<string, string>} why a pre-script could not be registered */
  #refused = new Map();
  /** @type {Record<string, string>} digests of registered pre-scripts, by plugin */
  #preScripts = {};
  /** @type {Map<number, RateLimit>} */
  #pushes = new Map();
  #documents = new PluginDocuments((plugin) => this.#plugins.mayRun(plugin, "adapter"));
  #calls = new PluginCalls(this.#documents);
  #reports = new ReadinessReports((name, tabs) => this.#report(name, "plugin.readiness", { tabs }));
  #reporting = Promise.resolve();
  /** @type {Promise<void>} */
  #registering = Promise.resolve();
  #callbacks;

  /** @param {Callbacks} callbacks */
  constructor(callbacks) {
    this.#callbacks = callbacks;
    setInterval(() => void this.#visitAll(), POLL_MS);
    onFrame((frame) => this.#frameStarted(frame));
  }

  async restore() {
    await this.#documents.restore();
    const vouch = () => this.#plugins.isVouched || void this.#registerPreScripts();
    setTimeout(vouch, VOUCH_MS);
  }

  describe() {
    return this.#documents.describe();
  }

  /**
   * What one server can do with its plugins.
   * @param {Source} source
   */
  of(source) {
    return {
      sync: (/** @type {Wire.PluginCode[]} */ codes) => this.#sync(source, codes),
      update: (/** @type {Wire.PluginCode} */ code) => this.#update(source, code),
      remove: (/** @type {string} */ name) => this.#remove(source, name),
      call: (/** @type {Wire.Dispatch} */ params, /** @type {How} */ how) =>
        this.#call(source, params, how),
      closed: () => this.#closed(source),
    };
  }

  /**
   * The server's whole list, on a new connection and after a reload.
   * @param {Source} source
   * @param {Wire.PluginCode[]} codes
   */
  async #sync(source, codes) {
    const before = this.#namesOf(source);
    this.#plugins.sync(source, codes);
    this.#reports.restart();
    await this.#tearDownGone(before);
    if (codes.length) await this.#learnAddresses();
    await this.#visitAll();
  }

  /**
   * The server on this machine decides about code that was injected before this worker began.
   * @param {Source} source
   */
  #namesOf(source) {
    const own = this.#plugins.all().filter((plugin) => plugin.source === source);
    return source.hasFiles ? this.#documents.plugins() : own.map(({ name }) => name);
  }

  /** @param {string[]} names of plugins, some of which nobody may have any more */
  async #tearDownGone(names) {
    const gone = names.filter((name) => !this.#plugins.get(name));
    await this.#registerPreScripts();
    await Promise.all(gone.map((name) => this.#documents.tearDown(name)));
  }

  /**
   * @param {Source} source
   * @param {Wire.PluginCode} code new, or another version of it, or with other settings
   */
  async #update(source, code) {
    this.#plugins.update(source, code);
    await this.#registerPreScripts();
    await this.#learnAddresses();
    await this.#visitAll(code.name);
  }

  /**
   * @param {Source} source
   * @param {string} name
   * @returns {Promise<{tornDown: number[], needReload: number[]}>}
   */
  async #remove(source, name) {
    if (!this.#plugins.remove(source, name)) return { tornDown: [], needReload: [] };
    const [left] = await Promise.all([this.#documents.tearDown(name), this.#registerPreScripts()]);
    return left;
  }

  /**
   * The server says no longer that their code may run.
   * @param {Source} source
   */
  #closed(source) {
    const names = source.hasFiles ? [] : this.#namesOf(source);
    this.#plugins.left(source);
    forgetAsked();
    void this.#tearDownGone(names);
  }

  /** One change after another, each from what may run when it begins. */
  #registerPreScripts() {
    this.#registering = this.#registering.then(() => this.#register()).catch(noteFault);
    return this.#registering;
  }

  async #register() {
    /** @type {Scripted[]} */
    const intact = [];
    /** @type {(Scripted & {code: string})[]} those for the debugger */
    const sent = [];
    for (const plugin of this.#scripted()) {
      const code = await this.#preScriptOf(plugin);
      if (code === null) intact.push(plugin);
      else if (code) sent.push({ ...plugin, code });
    }
    // Some may have been turned off meanwhile.
    const wanted = intact.filter((plugin) => this.#scripted().includes(plugin));
    await setPreScripts(sent.filter((plugin) => this.#plugins.mayRun(plugin, "preScript")));
    this.#refused = await registerOnly(wanted);
    const running = wanted.filter(({ name }) => !this.#refused.has(name));
    this.#preScripts = Object.fromEntries(running.map(({ name, preScript }) => [name, preScript]));
  }

  #scripted() {
    return this.#plugins.all().filter(
      /** @returns {plugin is Scripted} */
      (plugin) =>
        Boolean(plugin.preScript && plugin.urlPatterns.length) &&
        this.#plugins.mayRun(plugin, "preScript"),
    );
  }

  /**
   * @param {Scripted} plugin
   * @returns {Promise<string | null>} null: it is a file; else the code, empty if there is none
   */
  async #preScriptOf(plugin) {
    const { name, preScript, source } = plugin;
    const state = await stateOfFile(plugin, preScript);
    if (state === "intact") return null;
    const code = state === "missing" ? await fetchCode(name, preScript, source.ask) : null;
    if (!code) this.#callbacks.note(`the pre-script of ${name} is missing or has changed`);
    return code ?? "";
  }

  async #learnAddresses() {
    for (const { id, url } of await chrome.tabs.query({})) {
      if (id !== undefined) this.#addresses.set(id, url ?? "");
    }
  }

  /** @param {number} tabId */
  #pluginsFor(tabId) {
    if (isStealthy(tabId)) return [];
    const address = this.#addresses.get(tabId) ?? "";
    return this.#plugins.all().filter((plugin) => isMatch(plugin, address));
  }

  /**
   * @param {number} tabId
   * @param {string} url
   */
  committed(tabId, url) {
    this.#visits.delete(tabId);
    if (!this.#plugins.isEmpty) this.#addresses.set(tabId, url);
    const names = this.#pluginsFor(tabId).map(({ name }) => name);
    const preScripts = { ...this.#preScripts, ...debuggedPreScripts(tabId) };
    this.#documents.started(tabId, only(names, preScripts));
    if (!this.#plugins.isVouched) return;
    for (const { name } of this.#pluginsFor(tabId)) this.#reports.report(tabId, name, LOADING);
    this.#visitTab(tabId);
  }

  /**
   * Pre-scripts run in frames too, in pages that the plugin is not for.
   * @param {Frame} frame
   */
  #frameStarted({ tabId, frameId, sender }) {
    if (frameId === 0 || !this.#plugins.isVouched) return;
    const here = this.#plugins.all().filter((each) => isMatch(each, sender?.url ?? ""));
    const names = here.map(({ name }) => name);
    this.#documents.frameStarted(tabId, only(names, this.#preScripts));
  }

  /**
   * @param {number} tabId
   * @param {chrome.tabs.OnUpdatedInfo} change
   * @param {chrome.tabs.Tab} tab
   */
  updated(tabId, { status, url }, tab) {
    if (this.#plugins.isEmpty || (status !== "complete" && url === undefined)) return;
    this.#addresses.set(tabId, tab.url ?? "");
    this.#visitTab(tabId);
  }

  /** @param {number} tabId */
  forget(tabId) {
    this.#addresses.delete(tabId);
    this.#visits.delete(tabId);
    this.#pushes.delete(tabId);
    this.#documents.forget(tabId);
    this.#reports.forget(tabId);
  }

  /** @param {string} [name] one plugin; without it, every one */
  async #visitAll(name) {
    const found = [...this.#addresses.keys()].flatMap((tabId) =>
      this.#pluginsFor(tabId).flatMap((plugin) =>
        name === undefined || plugin.name === name ? [this.#visit(tabId, plugin.name)] : [],
      ),
    );
    await Promise.all(found);
  }

  /** @param {number} tabId */
  #visitTab(tabId) {
    for (const { name } of this.#pluginsFor(tabId)) void this.#visit(tabId, name);
  }

  /**
   * Injects the adapter if it is not there, asks whether it is ready, and reports that. What comes
   * meanwhile makes it ask again; a new document makes it start over.
   * @param {number} tabId
   * @param {string} name
   */
  async #visit(tabId, name) {
    const visits = this.#visits.get(tabId) ?? new Map();
    this.#visits.set(tabId, visits);
    const underWay = visits.get(name);
    if (underWay) return void (underWay.again = true);
    const visit = { again: true };
    visits.set(name, visit);
    const isCurrent = () => this.#visits.get(tabId)?.get(name) === visit;
    while (visit.again && isCurrent()) {
      visit.again = false;
      await this.#probe(tabId, name, isCurrent);
    }
    if (isCurrent()) visits.delete(name);
  }

  /**
   * @param {number} tabId
   * @param {string} name
   * @param {() => boolean} isCurrent
   */
  async #probe(tabId, name, isCurrent) {
    const plugin = this.#plugins.get(name);
    const address = this.#addresses.get(tabId);
    if (!plugin || !this.#plugins.isVouchedFor(plugin)) return;
    if (!address || !isMatch(plugin, address)) return;
    const probing = this.#readiness(tabId, plugin, address);
    // A script may never settle while its page goes away.
    const readiness = await within(VISIT_MS, probing).catch(() => LOADING);
    const isStill = isCurrent() && this.#plugins.get(name) === plugin;
    if (isStill) this.#reports.report(tabId, name, readiness);
  }

  /**
   * @param {number} tabId
   * @param {Plugin} plugin
   * @param {string} address
   * @returns {Promise<Readiness>}
   */
  async #readiness(tabId, plugin, address) {
    const refusal = plugin.source.refusal();
    if (refusal !== null) return notInjected(refusal);
    const config = configOf(plugin, address);
    try {
      if ((await chrome.tabs.get(tabId)).discarded) return UNLOADED;
      const document = await this.#documents.withAdapter(tabId, plugin, config, false);
      const order = { plugin: plugin.name, config, readyMs: READY_MS };
      const answer = await unlessLeft(tabId, runInPage(tabId, document, order));
      return this.#readinessOf(tabId, plugin, answer);
    } catch (error) {
      return error instanceof NotInjected ? notInjected(error.message) : LOADING;
    }
  }

  /**
   * @param {number} tabId
   * @param {Plugin} plugin
   * @param {Answer | undefined} answer
   */
  #readinessOf(tabId, plugin, answer) {
    const { name, preScript } = plugin;
    const refused = this.#refused.get(name);
    const lacksStart = Boolean(preScript) && this.#documents.preScriptIn(tabId, name) !== preScript;
    const readiness = readinessOf(answer, lacksStart);
    if (readiness.reason !== "needs_reload" || refused === undefined) return readiness;
    return notInjected(`The browser does not take the script for the start of a page: ${refused}`);
  }

  /**
   * @param {Source} source
   * @param {Wire.Dispatch} params
   * @param {How} how
   * @returns {Promise<unknown>} the tool's result
   */
  async #call(source, params, how) {
    const { plugin: name, tool, site } = params;
    const plugin = this.#plugins.get(name);
    if (!plugin) throw notReady("off", `The plugin ${name} is off, or not reviewed.`);
    const refusal = plugin.source === source ? source.refusal() : TAKEN;
    if (refusal !== null) throw notReady("not_injected", refusal);
    const tabId = await requireTab(params.tabId);
    await requireSite(tabId, site ?? undefined);
    const address = this.#addresses.get(tabId) ?? "";
    if (!isMatch(plugin, address)) throw elsewhere(tabId, name);
    const answer = await this.#calls.run(plugin, tabId, address, params, how);
    if (!answer) throw afterwards();
    const readiness = this.#readinessOf(tabId, plugin, answer);
    this.#reports.report(tabId, name, readiness);
    await this.#reporting;
    if (!readiness.ready) throw notReady(readiness.reason, readiness.message);
    return resultOf(tool, answer);
  }

  /**
   * What the content script of a tab's page passes on; the page can forge it.
   * @param {Frame} frame
   * @param {any} message
   */
  said(frame, message) {
    if (frame.frameId !== 0) return;
    if (message.type === "pluginProgress") this.#calls.progressed(frame.tabId, message);
    else if (message.type === "pluginReady") this.#pushed(frame.tabId, message.plugin);
    else if (message.type === "pluginLogs") this.#logged(frame.tabId, message);
  }

  /**
   * @param {number} tabId
   * @param {unknown} name
   */
  #pushed(tabId, name) {
    const rate = this.#pushes.get(tabId) ?? new RateLimit(MOST_PUSHES);
    this.#pushes.set(tabId, rate);
    const plugin = this.#pluginsFor(tabId).find((each) => each.name === name);
    if (plugin && !rate.note(Date.now())) void this.#visit(tabId, plugin.name);
  }

  /**
   * @param {number} tabId
   * @param {any} message
   */
  #logged(tabId, { plugin, entries }) {
    if (!this.#documents.tabsWith(plugin).includes(tabId)) return;
    this.#report(plugin, "plugin.log", { plugin, tabId, entries });
  }

  /**
   * After the changes of tabs that it depends on.
   * @param {string} name of the plugin, whose server gets it
   * @param {string} method
   * @param {object} params
   */
  #report(name, method, params) {
    const { source } = this.#plugins.get(name) ?? {};
    this.#reporting = this.#reporting
      .then(this.#callbacks.reportTabChanges)
      .catch(() => {})
      .then(() => void source?.tell(method, params));
  }
}

/**
 * @param {string[]} names
 * @param {Record<string, string>} digests
 */
function only(names, digests) {
  return Object.fromEntries(Object.entries(digests).filter(([name]) => names.includes(name)));
}

/** @param {Callbacks} callbacks */
export function keepPlugins(callbacks) {
  const host = new PluginHost(callbacks);
  register({
    name: "plugins",
    after: ["frames", "sites", "debugger pre-scripts"],
    restore: () => host.restore(),
    committed: (tabId, url) => host.committed(tabId, url),
    updated: (tabId, change, tab) => host.updated(tabId, change, tab),
    forget: (tabId) => host.forget(tabId),
    said: (frame, message) => host.said(frame, message),
    describe: () => host.describe(),
  });
  return host;
}
