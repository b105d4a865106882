/** As much of a page as the panel's own scripts need to build elements in it, without a browser. */

class FakeNode {
  parentElement = null;
  childNodes = [];
  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get nextSibling() {
    const all = this.parentElement?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }
  remove() {
    const all = this.parentElement?.childNodes;
    if (all) all.splice(all.indexOf(this), 1);
    this.parentElement = null;
  }
  insertBefore(node, next) {
    node.remove();
    const at = next ? this.childNodes.indexOf(next) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentElement = this;
    return node;
  }
}

class FakeText extends FakeNode {
  constructor(text) {
    super();
    this.textContent = text;
  }
}

class FakeElement extends FakeNode {
  #attributes = new Map();
  #listeners = new Map();
  constructor(tag) {
    super();
    this.tag = tag;
  }
  get textContent() {
    return this.childNodes.map((child) => child.textContent).join("");
  }
  get children() {
    return this.childNodes.filter((child) => child instanceof FakeElement);
  }
  setAttribute(name, value) {
    this.#attributes.set(name, value);
  }
  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }
  removeAttribute(name) {
    this.#attributes.delete(name);
  }
  addEventListener(type, listener) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }
  /** Calls the listeners as the browser would for a person's event, or for a script's. */
  fire(type, isTrusted = true) {
    const event = { type, isTrusted, currentTarget: this, target: this };
    for (const listener of this.#listeners.get(type) ?? []) listener(event);
  }
}

export function installPage() {
  globalThis.document = {
    createElement: (tag) => new FakeElement(tag),
    createElementNS: (_, tag) => new FakeElement(tag),
    createTextNode: (text) => new FakeText(text),
  };
  return new FakeElement("main");
}
