/** One tab, as the worker knows it. */

/** @typedef {{name: string, [more: string]: unknown}} Tool */

export class Tab {
  /** @type {Map<string, Tool>} */
  tools = new Map();
  lastSeen = 0;
  isShown = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} what tells of its tools */
  timer;
  url = "";
  title = "";

  /**
   * @param {string} id
   * @param {MessagePort} port
   */
  constructor(id, port) {
    this.id = id;
    this.port = port;
  }

  /**
   * @param {{url: string, title: string}} page
   * @returns whether it is another page, or called otherwise
   */
  see({ url, title }) {
    const isNew = url !== this.url || title !== this.title;
    Object.assign(this, { url, title, lastSeen: Date.now() });
    return isNew;
  }

  /** What the server is told. */
  told() {
    const { id: tabId, url, title, tools } = this;
    return { tabId, url, title, tools: [...tools.values()] };
  }
}
