/**
 * Puts adapters into documents, once into each, and runs our functions beside them. Which document
 * has which adapter is kept in session storage: the page could lie about it.
 */

import { attachTab, isTaken } from "../debugger/debugger.js";
import { mainFrame } from "../frames/frames.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { saver } from "../shared/tab-state.js";
import { within } from "../shared/timing.js";
import { fetchCode, fileOf } from "./adapter-files.js";
import { evaluateCode } from "./debugger-code.js";
import { prepare, tearDown } from "./page-runtime.js";
import { stateOfFile } from "./plugin-sources.js";
import { isMatch } from "./url-patterns.js";

const STORED = "plugin documents";
const TEARDOWN_MS = 1000;
/** The server ends calls earlier; this limit is for a page that never answers. */
const LONGEST_MS = 600_000;
/** The back/forward cache keeps a few. */
const MOST_DOCUMENTS = 8;
const GONE = /no (frame|document) with/i;
/** What the browser says when a script cannot have begun. */
const NOT_BEGUN =
  /no (frame|document|tab) with|cannot access|error page|gallery|cannot be scripted/i;

/**
 * @typedef {object} PageDocument
 * @property {string} id
 * @property {string} channel the name of the events between our functions and the content script
 * @property {string} logNonce
 * @property {string} readinessNonce
 * @property {Record<string, string>} adapters the digests of those that run in it, by plugin
 */
/** @typedef {Record<string, string>} PreScripts digests of those that ran in a tab, by plugin */
/** @typedef {import("./plugin-sources.js").Plugin} Plugin */

/** The adapter is not in the document, and no tool has been called. */
export class NotInjected extends Error {}

/** The same, because only the debugger could put it there, which is not attached to the tab. */
class NeedsDebugger extends NotInjected {}

const NO_FILE =
  "The server cannot write into the folder of this extension, so the debugger puts the code into " +
  "the page, with the first call in this tab.";
const ELSEWHERE =
  "The server is on another machine, so the debugger puts the code into the page, with the first " +
  "call in this tab.";
const NO_CODE = "The extension has no file with its code, and the server does not send it.";

export class PluginDocuments {
  /** @type {Map<number, PageDocument[]>} the newest first */
  #tabs = new Map();
  /** @type {Map<number, PreScripts>} those with which a tab's document has started */
  #started = new Map();
  /** @type {Map<number, PreScripts>} those with which frames in a tab's document have started */
  #framed = new Map();
  /** @type {Map<string, Promise<void>>} by document and plugin */
  #injecting = new Map();
  #save = saver(STORED, () => this.describe());
  #mayRun;

  /** @param {(plugin: Plugin) => boolean} mayRun whether its server still lets this code run */
  constructor(mayRun) {
    this.#mayRun = mayRun;
  }

  async restore() {
    const stored = (await chrome.storage.session.get(STORED))[STORED];
    const { tabs = [], started = [], framed = [] } = /** @type {any} */ (stored ?? {});
    this.#tabs = new Map(tabs);
    this.#started = new Map(started);
    this.#framed = new Map(framed);
  }

  describe() {
    return { tabs: [...this.#tabs], started: [...this.#started], framed: [...this.#framed] };
  }

  /** @param {number} tabId */
  forget(tabId) {
    const kept = [this.#tabs, this.#started, this.#framed];
    const wasKnown = kept.map((map) => map.delete(tabId)).some(Boolean);
    if (wasKnown) this.#save();
  }

  /**
   * A document has started in a tab.
   * @param {number} tabId
   * @param {PreScripts} preScripts those that ran first
   */
  started(tabId, preScripts) {
    const wasKnown = [this.#started.delete(tabId), this.#framed.delete(tabId)].some(Boolean);
    const isAny = Object.keys(preScripts).length > 0;
    if (isAny) this.#started.set(tabId, preScripts);
    if (isAny || wasKnown) this.#save();
  }

  /**
   * A document has started in a frame of a tab.
   * @param {number} tabId
   * @param {PreScripts} preScripts those that ran first
   */
  frameStarted(tabId, preScripts) {
    if (!Object.keys(preScripts).length) return;
    this.#framed.set(tabId, { ...this.#framed.get(tabId), ...preScripts });
    this.#save();
  }

  /**
   * @param {number} tabId
   * @param {string} name of a plugin
   */
  preScriptIn(tabId, name) {
    return this.#started.get(tabId)?.[name];
  }

  /** @returns {string[]} the names of those whose adapters are in any document */
  plugins() {
    const documents = [...this.#tabs.values()].flat();
    return [...new Set(documents.flatMap(({ adapters }) => Object.keys(adapters)))];
  }

  /** @param {string} name of a plugin */
  tabsWith(name) {
    const tabs = [...this.#tabs].filter(([, found]) =>
      found.some(({ adapters }) => adapters[name]),
    );
    return tabs.map(([tabId]) => tabId);
  }

  /**
   * The tab's document, with the plugin's adapter in it.
   * @param {number} tabId
   * @param {Plugin} plugin
   * @param {Record<string, unknown>} config
   * @param {boolean} mayAttach whether the debugger may be attached to the tab, if it is needed
   * @returns {Promise<PageDocument>}
   */
  async withAdapter(tabId, plugin, config, mayAttach) {
    const document = await this.#document(tabId);
    if (document.adapters[plugin.name] === plugin.adapter) return document;
    const key = `${document.id} ${plugin.name} ${plugin.adapter}`;
    const injecting = this.#injecting.get(key) ?? this.#inject(tabId, document, plugin, config);
    this.#injecting.set(key, injecting);
    try {
      await injecting.finally(() => this.#injecting.delete(key));
    } catch (error) {
      if (!(error instanceof NeedsDebugger) || !mayAttach) throw error;
      await attachTab(tabId).catch(refuse);
      return this.withAdapter(tabId, plugin, config, false);
    }
    return document;
  }

  /**
   * @param {number} tabId
   * @returns {Promise<PageDocument>}
   */
  async #document(tabId) {
    const frame = await mainFrame(tabId).catch((error) => {
      throw new NotInjected(messageOf(error));
    });
    const id = frame.sender?.documentId ?? "";
    const known = this.#tabs.get(tabId) ?? [];
    return known.find((document) => document.id === id) ?? this.#add(tabId, known, id);
  }

  /**
   * @param {number} tabId
   * @param {PageDocument[]} known
   * @param {string} id
   */
  #add(tabId, known, id) {
    const [channel, logNonce, readinessNonce] = [random(), random(), random()];
    const document = { id, channel, logNonce, readinessNonce, adapters: {} };
    this.#tabs.set(tabId, [document, ...known].slice(0, MOST_DOCUMENTS));
    this.#save();
    return document;
  }

  /**
   * @param {number} tabId
   * @param {PageDocument} document
   * @param {Plugin} plugin
   * @param {Record<string, unknown>} config
   */
  async #inject(tabId, document, plugin, config) {
    const { name, adapter } = plugin;
    await requireAddress(tabId, document, plugin);
    const [isPrepared, , code] = await Promise.all([
      this.#prepare(tabId, document, name, config),
      this.#listen(tabId, document),
      requireCode(tabId, plugin),
    ]);
    if (!isPrepared) throw new NotInjected("The page has a `__openTabs` that cannot be replaced.");
    if (!this.#mayRun(plugin)) throw new NotInjected("The plugin was turned off.");
    if (code === null) await injectFile(tabId, document, fileOf(name, adapter)).catch(refuse);
    else await evaluateCode(tabId, plugin, code).catch(refuse);
    document.adapters[name] = adapter;
    this.#save();
    // A worker that does not know this would inject it again.
    await this.#save.written();
    // It was turned off in the meantime, when nothing was there to be torn down.
    if (!this.#mayRun(plugin)) await this.#tearDownIn(tabId, name);
  }

  /**
   * @param {number} tabId
   * @param {PageDocument} document
   * @param {string} plugin
   * @param {Record<string, unknown>} config
   */
  async #prepare(tabId, document, plugin, config) {
    const { channel, logNonce, readinessNonce } = document;
    const setup = { plugin, config, channel, logNonce, readinessNonce };
    return inPage(tabId, document, prepare, setup).catch(refuse);
  }

  /**
   * Without it the plugin works, but its logs and progress are lost.
   * @param {number} tabId
   * @param {PageDocument} document
   */
  async #listen(tabId, { channel, logNonce, readinessNonce }) {
    const frame = await mainFrame(tabId);
    await frame.ask("plugins", { channel, logNonce, readinessNonce }).catch(() => {});
  }

  /**
   * @param {string} name
   * @returns {Promise<{tornDown: number[], needReload: number[]}>} numbers of tabs
   */
  async tearDown(name) {
    const found = this.tabsWith(name);
    const done = await Promise.all(found.map((tabId) => this.#tearDownIn(tabId, name)));
    const starts = [...this.#started, ...this.#framed];
    const scripted = starts.filter(([, digests]) => digests[name]);
    const tornDown = found.filter((_, index) => done[index]);
    const left = [...scripted.map(([tabId]) => tabId), ...found.filter((_, index) => !done[index])];
    this.#save();
    return { tornDown, needReload: [...new Set(left)] };
  }

  /**
   * @param {number} tabId
   * @param {string} name
   * @returns {Promise<boolean>} whether no document of the tab has it any longer
   */
  async #tearDownIn(tabId, name) {
    const documents = (this.#tabs.get(tabId) ?? []).filter(({ adapters }) => adapters[name]);
    documents.forEach(({ adapters }) => delete adapters[name]);
    const ended = documents.map((document) =>
      within(TEARDOWN_MS, inPage(tabId, document, tearDown, name)).then(Boolean, isNotBegun),
    );
    return (await Promise.all(ended)).every(Boolean);
  }
}

/**
 * @param {number} tabId
 * @param {Plugin} plugin
 * @returns {Promise<string | null>} what the debugger has to run; null if there is a file
 */
async function requireCode(tabId, plugin) {
  const { name, adapter, source } = plugin;
  const state = await stateOfFile(plugin, adapter);
  if (state === "intact") return null;
  if (state === "changed") throw new NotInjected("Its file has changed since it was reviewed.");
  if (!isTaken(tabId)) throw new NeedsDebugger(source.hasFiles ? NO_FILE : ELSEWHERE);
  const code = await fetchCode(name, adapter, source.ask);
  if (code === null) throw new NotInjected(NO_CODE);
  return code;
}

function random() {
  return `tabhub-${crypto.randomUUID()}`;
}

/**
 * @param {number} tabId
 * @param {{id: string}} document
 */
export function targetOf(tabId, { id }) {
  return { tabId, documentIds: [id] };
}

/**
 * The tab may have gone elsewhere since its address was compared. A document's own address can
 * change as well, so the browser is asked for the one that it has now.
 * @param {number} tabId
 * @param {{id: string}} document
 * @param {Plugin} plugin
 */
async function requireAddress(tabId, { id }, plugin) {
  const shown = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
  if (shown?.documentId === id && isMatch(plugin, shown.url)) return;
  throw new NotInjected("The page is loading.");
}

/**
 * Runs a function of ours in the page's own world.
 * @template A, T
 * @param {number} tabId
 * @param {{id: string}} document
 * @param {(order: A) => T} func
 * @param {A} order
 * @returns {Promise<Awaited<T> | undefined>} undefined if the page has broken the function
 */
export async function inPage(tabId, document, func, order) {
  const target = targetOf(tabId, document);
  const script = { target, world: /** @type {const} */ ("MAIN"), func, args: [order] };
  const [injection] = await chrome.scripting.executeScript(/** @type {any} */ (script));
  return /** @type {any} */ (injection)?.result ?? undefined;
}

/**
 * @param {number} tabId
 * @param {PageDocument} document
 * @param {string} file
 */
async function injectFile(tabId, document, file) {
  const target = targetOf(tabId, document);
  await chrome.scripting.executeScript({ target, world: "MAIN", files: [file] });
}

/**
 * Calls what `prepare` has installed, by way of the content script: faster than a script.
 * @param {number} tabId
 * @param {PageDocument} document
 * @param {import("./page-runtime.js").Order} order
 * @returns {Promise<import("./page-runtime.js").Answer | undefined>}
 */
export async function runInPage(tabId, { id, channel }, order) {
  const frame = await mainFrame(tabId);
  if (frame.sender?.documentId !== id) throw new NotInjected("The page is loading.");
  return frame.ask("runPlugin", { channel, order }, LONGEST_MS);
}

/** @param {unknown} error of a script that may have begun */
export function isNotBegun(error) {
  return NOT_BEGUN.test(messageOf(error));
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function refuse(error) {
  if (error instanceof NotInjected) throw error;
  if (error instanceof CommandError) throw new NotInjected(error.message);
  // The tab shows the next document already, whose content script has not said hello yet.
  if (GONE.test(messageOf(error))) throw new NotInjected("The page is loading.");
  throw new NotInjected(`The browser does not let scripts into this page (${messageOf(error)}).`);
}
