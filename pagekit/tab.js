/** A tab of the origin, as the worker knows it. */

/** @typedef {{name: string, [more: string]: unknown}} Tool */

export class Tab {
  /** @type {Map<MessagePort, Map<string, Tool>>} its clients' ports, and the tools of each */
  ports = new Map();
  /** @type {PromiseWithResolvers<void> | undefined} resolved when it answers or is removed */
  check;
  /** @type {ReturnType<typeof setTimeout> | undefined} the next report of its tools */
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
   * @returns whether the URL or the title changed
   */
  update({ url, title, isShown }) {
    const isChanged = url !== this.page?.url || title !== this.page.title;
    this.page = { tabId: this.id, url, title };
    this.isShown = isShown;
    this.lastSeen = Date.now();
    return isChanged;
  }

  /** Of two tools with the same name the first counts. */
  tools() {
    const all = [...this.ports.values()].flatMap((tools) => [...tools]);
    return [...new Map(all.reverse()).values()].reverse();
  }

  /**
   * The port of the client that has this tool.
   * @param {string} name
   */
  portOf(name) {
    return [...this.ports.keys()].find((port) => this.ports.get(port)?.has(name));
  }

  /** @param {object} message */
  post(message) {
    for (const port of this.ports.keys()) port.postMessage(message);
  }
}
