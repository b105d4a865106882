/**
 * What is not shown before an action: it may be shown by it without a change of its own. Pages are
 * large and time is short, so the likeliest places are looked at first: where dialogs and menus
 * are, at the top of the page, and then around the element that is acted on. The limit is a number
 * (1,000 take half a millisecond), so that a busy machine finds the same.
 */
tabhub.define("hiddenElements", () => {
  const { firstElement, isElement, isRendered, isVisible, lastElement, nextElement, parent } =
    tabhub.dom;
  const { attr, children, has, isBare, previousElement, shadowRoot, tag, treeWalker } = tabhub.dom;
  /** What lies over the page: that it has gone is worth a line, however it was shut. */
  const OVERLAYS = new Set("alert alertdialog dialog listbox menu tooltip".split(" "));
  const MOST = 1000;
  const MOST_AT_TOP = 400;
  /** Of the children of one element at the top, from each end. */
  const MOST_OF_ENDS = 50;
  /** In components of the page, beside those elsewhere. */
  const MOST_IN_ROOTS = 1000;
  const MOST_ROOTS = 50;
  /** Around one ancestor of the target, before the next one gets its turn. */
  const MOST_AROUND = 300;

  class Search {
    /** @type {Element[]} without what is inside it */
    hidden = [];
    /** @type {Element[]} what is shown and lies over the page */
    overlays = [];
    /** @type {ShadowRoot[]} of the components that were looked at */
    roots = [];
    /** @type {Map<Element, boolean>} whether what is inside may be shown */
    #looked = new Map();

    /** @param {number} most how many elements may have been looked at by then */
    #isOver(most) {
      return this.#looked.size >= most;
    }

    /** @param {Element} element */
    #enters(element) {
      if (isVisible(element)) return true;
      if (tabhub.roles.isSkipped(tag(element))) return false;
      if (isRendered(element) && getComputedStyle(element).display === "contents") return true;
      this.hidden.push(element);
      return false;
    }

    /** @param {Element} element @returns {boolean} whether what is inside it may be shown */
    #look(element) {
      const known = this.#looked.get(element);
      if (known !== undefined) return known;
      const enters = this.#enters(element);
      this.#looked.set(element, enters);
      if (enters) this.#noteShown(element);
      return enters;
    }

    /** @param {Element} element */
    #noteShown(element) {
      const name = tag(element);
      const isComponent = name.includes("-") && this.roots.length < MOST_ROOTS;
      const root = isComponent ? shadowRoot(element) : null;
      if (root) this.roots.push(root);
      if (isBare(element)) return;
      const role = attr(element, "role");
      const isOverlay = name === "dialog" || (role !== null && OVERLAYS.has(role));
      if (isOverlay || has(element, "popover")) this.overlays.push(element);
    }

    /** Also of components inside them. */
    components() {
      const most = this.#looked.size + MOST_IN_ROOTS;
      for (const root of this.roots)
        for (const child of children(root.host)) if (isElement(child)) this.inside(child, most);
    }

    /** Level by level. @param {Element} body */
    top(body) {
      const ahead = [body];
      for (const at of ahead) {
        for (const child of ends(at)) {
          if (this.#isOver(MOST_AT_TOP)) return;
          if (this.#look(child)) ahead.push(child);
        }
      }
    }

    /** From its inside outwards. @param {Element} target */
    around(target) {
      this.inside(target, this.#looked.size + MOST_AROUND);
      for (let at = /** @type {Element | null} */ (target); at; at = parent(at)) {
        if (this.#isOver(MOST)) return;
        const most = Math.min(this.#looked.size + MOST_AROUND, MOST);
        for (const sibling of siblings(at)) {
          if (this.#isOver(most)) break;
          this.inside(sibling, most);
        }
      }
    }

    /**
     * @param {Element} root
     * @param {number} [most]
     */
    inside(root, most = MOST) {
      const walk = treeWalker(root, NodeFilter.SHOW_ELEMENT);
      let at = /** @type {Node | null} */ (root);
      while (at && !this.#isOver(most)) {
        const enters = this.#look(/** @type {Element} */ (at));
        at = (enters ? walk.firstChild() : null) ?? following(walk);
      }
    }
  }

  /** The first and the last children. @param {Element} element */
  function* ends(element) {
    let [first, last] = [firstElement(element), lastElement(element)];
    for (let i = 0; first && last && i < MOST_OF_ENDS; i++) {
      yield first;
      if (first === last) return;
      yield last;
      if (nextElement(first) === last) return;
      [first, last] = [nextElement(first), previousElement(last)];
    }
  }

  /** The nearest first. @param {Element} element */
  function* siblings(element) {
    let [before, after] = [previousElement(element), nextElement(element)];
    while (before || after) {
      if (after) yield after;
      if (before) yield before;
      after = after && nextElement(after);
      before = before && previousElement(before);
    }
  }

  /** @param {TreeWalker} walk */
  function following(walk) {
    for (;;) {
      const next = walk.nextSibling();
      if (next) return next;
      if (!walk.parentNode()) return null;
    }
  }

  return {
    find(target) {
      const body = tabhub.dom.body();
      if (!body || !isElement(body)) return { hidden: [], overlays: [], roots: [] };
      const search = new Search();
      search.top(body);
      search.around(target);
      search.inside(body);
      search.components();
      return search;
    },
  };
});
