/**
 * The open panels: our own pages, each at the other end of a port. They may send the server the
 * requests on a closed list, and get what it sends to the person.
 */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { focusedWindow } from "../shared/known-tabs.js";
import { SENDERS } from "../shared/link-methods.js";
import { handlersOf } from "../shared/method-handlers.js";

/** @typedef {(method: string, params: object) => Promise<unknown>} Ask */

/** Tells a panel which approval the person wants to see. */
const FOCUS = "confirmation.focus";

/**
 * Content scripts have the extension's id too, but the origin of their page.
 * @param {chrome.runtime.Port} port
 */
export function isPanel({ name, sender }) {
  const home = chrome.runtime.getURL("");
  const isOurs = `${sender?.origin}/` === home && sender?.id === chrome.runtime.id;
  return name === "panel" && isOurs && Boolean(sender?.url?.startsWith(`${home}panel/`));
}

export class Panels {
  /** @type {Map<chrome.runtime.Port, boolean>} whether each can be seen */
  #ports = new Map();
  /** An approval that the person wants to see, until a panel that comes into view has shown it. */
  #pointed = "";
  #ask;
  #changed;
  #own;

  /**
   * @param {Ask} ask
   * @param {() => void} changed called when one opens or closes
   * @param {Record<string, (params: any) => unknown>} [own] the requests that this worker answers
   */
  constructor(ask, changed, own = {}) {
    this.#ask = ask;
    this.#changed = changed;
    this.#own = new Map(Object.entries(own));
  }

  get count() {
    return this.#ports.size;
  }

  get isVisible() {
    return [...this.#ports.values()].includes(true);
  }

  /**
   * Shows the person one of the approvals that wait: in the open panels, and in the next that opens,
   * for the open ones may be in other windows.
   * @param {string} [id]
   */
  point(id) {
    if (!id) return;
    this.broadcast(FOCUS, { id });
    this.#pointed = id;
  }

  /** @param {string} id of an approval that is over */
  decided(id) {
    if (this.#pointed === id) this.#pointed = "";
  }

  /**
   * @param {chrome.runtime.Port} port
   * @param {string} [waiting] an approval that it is opened for, unless the person chose another
   */
  connected(port, waiting = "") {
    this.#ports.set(port, false);
    const id = this.#pointed || waiting;
    if (id) post(port, { method: FOCUS, params: { id } });
    port.onMessage.addListener((message) => this.#receive(port, message));
    port.onDisconnect.addListener(() => this.#disconnected(port));
    this.#changed();
  }

  /**
   * @param {string} method
   * @param {object} params
   */
  broadcast(method, params) {
    for (const port of this.#ports.keys()) post(port, { method, params });
  }

  /** @param {chrome.runtime.Port} port */
  #disconnected(port) {
    // Reading the error keeps it out of the extension's own error list.
    void chrome.runtime.lastError;
    this.#ports.delete(port);
    this.#changed();
  }

  /**
   * @param {chrome.runtime.Port} port
   * @param {any} message
   */
  #receive(port, message) {
    if (typeof message.visible !== "boolean") return void this.#answer(port, message);
    this.#ports.set(port, message.visible);
    if (message.visible) this.#pointed = "";
  }

  /**
   * @param {chrome.runtime.Port} port
   * @param {any} request
   */
  async #answer(port, { id, method, params }) {
    try {
      const own = this.#own.get(method);
      if (!own && SENDERS.get(method) !== "panel") throw notForPanels(method);
      const result = await (own ? own(params) : this.#ask(method, params));
      post(port, { id, result: result ?? {} });
    } catch (error) {
      post(port, { id, error: messageOf(error) });
    }
  }
}

/** @param {unknown} method */
function notForPanels(method) {
  return new CommandError("unknown_command", `A panel may not ask for ${method}.`);
}

/**
 * @param {chrome.runtime.Port} port
 * @param {object} message
 */
function post(port, message) {
  try {
    port.postMessage(message);
  } catch {
    // The panel has closed meanwhile and does not need the message.
  }
}

// Between the server and the person: passes on what the server sends, and asks it for the current
// state.

const GATHER_MS = 20;
/** No panel is open: only the badge has to be right. */
const GATHER_UNSEEN_MS = 2000;

/** @typedef {import("./attention.js").Attention} Attention */

export class Relay {
  #panels;
  #attention;
  #ask;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #handlers;

  /**
   * @param {Panels} panels
   * @param {Attention} attention
   * @param {Ask} ask
   */
  constructor(panels, attention, ask) {
    this.#panels = panels;
    this.#attention = attention;
    this.#ask = ask;
    this.#handlers = handlersOf("relay", {
      "plugins.changed": () => this.#refreshSoon(),
      "tool.invocationStart": () => {},
      "tool.invocationEnd": () => {},
      "confirmation.request": (request) => attention.asked(request),
      "confirmation.closed": ({ id }) => {
        attention.decided(id);
        panels.decided(id);
      },
      "confirmation.missed": (request) => attention.missed(request),
      "state.changed": () => this.#refreshSoon(),
    });
  }

  /**
   * @param {import("../link/line.js").Request | import("../link/line.js").Notification} message
   * @returns {boolean} whether it was for the person
   */
  receive({ kind, method, params }) {
    const handler = this.#handlers[kind].get(method);
    if (!handler) return false;
    handler(params);
    if (method !== "state.changed") this.#panels.broadcast(method, params);
    return true;
  }

  /** A connection has opened: the state may have changed. */
  async refresh() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      const state = /** @type {Panel.State} */ (await this.#ask("config.getState", {}));
      this.#attention.sync(state);
      this.#panels.broadcast("state", state);
    } catch {
      // The connection has closed again, or the server has no state.
    }
  }

  /** @param {string} [problem] why, if it is known */
  closed(problem) {
    this.#attention.disconnected();
    this.#panels.broadcast("closed", { problem });
  }

  #refreshSoon() {
    const pause = this.#panels.count ? GATHER_MS : GATHER_UNSEEN_MS;
    this.#timer ??= setTimeout(() => this.refresh(), pause);
  }
}

// Opening the panel when the person asks for it.

const PAGE = "panel/panel.html";

/** The browser opens a side panel only directly after a click, so nothing may be awaited before. */
export async function openPanel() {
  try {
    await chrome.sidePanel.open({ windowId: focusedWindow() });
  } catch {
    await openInTab(chrome.runtime.getURL(PAGE));
  }
}

/**
 * Some clicks do not count for the browser, and some browsers have no side panel.
 * @param {string} url
 */
async function openInTab(url) {
  const [open] = await chrome.tabs.query({ url });
  if (open?.id === undefined) {
    await chrome.tabs.create({ url });
    return;
  }
  await chrome.tabs.update(open.id, { active: true });
  await chrome.windows.update(open.windowId, { focused: true });
}
