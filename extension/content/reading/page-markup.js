/** A document's current HTML, with shadow roots and without the values of secret fields. */
tabhub.define("markup", () => {
  const { attr, attributeNames, firstChild, isElement, isText, nextSibling, shadowRoot } =
    tabhub.dom;
  const { tag: tagOf } = tabhub.dom;
  const STEPS = 32;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  const VOID = words("area base br col embed hr img input link meta source track wbr");
  /** Elements whose text is written without escaping. */
  const RAW = words("iframe noembed noframes plaintext script style xmp");
  const FRAME = words("iframe frame");
  const ESCAPED = new Map([
    ["&", "&amp;"],
    ["<", "&lt;"],
    [">", "&gt;"],
    ['"', "&quot;"],
    ["\u00a0", "&nbsp;"],
  ]);

  /** @typedef {{next: Node | null, end: string, isRaw: boolean}} Level */

  class Markup {
    #text = "";
    /** @type {Level[]} */
    #levels = [];
    /** @type {TabhubFrameMark[]} */
    #frames = [];

    /**
     * @param {Element} root
     * @param {TabhubSizes} sizes
     * @returns {TabhubPiece}
     */
    read(root, { maxChars, maxMs }) {
      const endAt = performance.now() + maxMs;
      if (root === tabhub.dom.documentElement()) this.#text = doctype();
      this.#element(root);
      for (let steps = 1; this.#levels.length && this.#text.length <= maxChars; steps++) {
        this.#step(this.#levels[this.#levels.length - 1]);
        if (steps % STEPS === 0 && performance.now() > endAt) break;
      }
      // A single text may be longer than the limit.
      const text = this.#text.slice(0, maxChars + 1);
      const frames = this.#frames.filter(({ at }) => at <= maxChars);
      return { text, frames, whole: !this.#levels.length && text === this.#text };
    }

    /** @param {Level} level */
    #step(level) {
      const node = level.next;
      if (!node) {
        this.#text += level.end;
        return void this.#levels.pop();
      }
      level.next = nextSibling(node);
      if (isElement(node)) this.#element(node);
      else if (isText(node))
        this.#text += level.isRaw ? node.data : escape(node.data, /[&<>\u00a0]/g);
      else if (node instanceof Comment) this.#text += `<!--${node.data}-->`;
    }

    /** @param {Element} element */
    #element(element) {
      const tag = tagOf(element);
      const attributes = attributeNames(element).map((name) => attribute(element, name));
      this.#text += `<${tag}${attributes.join("")}>`;
      if (VOID.has(tag)) return;
      if (FRAME.has(tag)) this.#frame(element);
      const next = firstChild(element instanceof HTMLTemplateElement ? element.content : element);
      this.#levels.push({ next, end: `</${tag}>`, isRaw: RAW.has(tag) });
      this.#shadow(element);
    }

    /** @param {Element} element */
    #shadow(element) {
      const root = shadowRoot(element);
      if (!root) return;
      this.#text += `<template shadowrootmode="${root.mode}">`;
      this.#levels.push({ next: firstChild(root), end: "</template>", isRaw: false });
    }

    /** @param {Element} element */
    #frame(element) {
      const index = tabhub.childFrames.indexOf(element);
      this.#frames.push({ at: this.#text.length, ref: tabhub.refs.mint(element), index });
    }
  }

  function doctype() {
    return document.doctype ? `<!DOCTYPE ${document.doctype.name}>\n` : "";
  }

  /**
   * @param {string} text
   * @param {RegExp} which
   */
  function escape(text, which) {
    return text.replace(which, (found) => ESCAPED.get(found) ?? found);
  }

  /**
   * @param {Element} element
   * @param {string} name
   */
  function attribute(element, name) {
    const isHidden = name === "value" && tabhub.secrets.isSecret(element);
    const value = attr(element, name) ?? "";
    const shown = isHidden ? tabhub.secrets.mask(value) : value;
    return ` ${name}="${escape(shown, /[&"\u00a0]/g)}"`;
  }

  return { read: (root, sizes) => new Markup().read(root, sizes) };
});
