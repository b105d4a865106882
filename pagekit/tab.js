/** One tab, as the worker knows it. */

/** @typedef {{name: string, [more: string]: unknown}} Tool */

export class Tab {
  /** @type {Map<MessagePort, Map<string, Tool>>} its documents and clients, and what each has */
  ports = new Map();
  /** @type {PromiseWithResolvers<void> | undefined} settled when it says that it lives, or goes */
  clash;
  /** @type {ReturnType<typeof setTimeout> | undefined} what tells of its tools */
  timer;
  lastSeen = 0;

  /**
   * @param {string} id
   * @param {unknown} context
   */
  constructor(id, context) {
    this.id = id;
    this.context = context;
  }

  /**
   * @param {{url: string, title: string, isShown?: boolean}} page
   * @returns whether it is another page, or called otherwise
   */
  see({ url, title, isShown }) {
    const isNew = url !== this.page?.url || title !== this.page.title;
    this.page = { tabId: this.id, url, title };
    this.isShown = isShown;
    this.lastSeen = Date.now();
    return isNew;
  }

  /** Of two tools of one name the first counts. */
  tools() {
    const all = [...this.ports.values()].flatMap((tools) => [...tools]);
    return [...new Map(all.reverse()).values()].reverse();
  }

  /** @param {string} name */
  portOf(name) {
    return [...this.ports.keys()].find((port) => this.ports.get(port)?.has(name));
  }

  /** @param {object} message */
  post(message) {
    for (const port of this.ports.keys()) port.postMessage(message);
  }
}
