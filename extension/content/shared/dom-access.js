/**
 * Safe access to the DOM. A form's inputs and named elements of a document hide built-in properties
 * of the same name ("children", "body"), so everything goes through the prototypes.
 */
tabhub.define("dom", () => {
  /**
   * @param {object} prototype
   * @param {string} name
   * @returns {(...args: any[]) => any}
   */
  const getter = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    if (!get) throw new Error(`no getter ${name}`);
    return get;
  };
  const node = Node.prototype;
  const element = Element.prototype;
  const getFirstChild = getter(node, "firstChild");
  const getNextSibling = getter(node, "nextSibling");
  const getFirstElement = getter(element, "firstElementChild");
  const getLastElement = getter(element, "lastElementChild");
  const getNextElement = getter(element, "nextElementSibling");
  const getPreviousElement = getter(element, "previousElementSibling");
  const getParentNode = getter(node, "parentNode");
  const getNodeType = getter(node, "nodeType");
  const getConnected = getter(node, "isConnected");
  const getLocalName = getter(element, "localName");
  const getSlot = getter(element, "assignedSlot");
  const getInnerText = getter(HTMLElement.prototype, "innerText");
  const getContentEditable = getter(HTMLElement.prototype, "isContentEditable");
  const getDocumentElement = getter(Document.prototype, "documentElement");
  const getBody = getter(Document.prototype, "body");
  const getActive = getter(Document.prototype, "activeElement");
  const getContentType = getter(Document.prototype, "contentType");
  const getReadyState = getter(Document.prototype, "readyState");
  const getOuterHtml = getter(element, "outerHTML");
  const { createRange, createTreeWalker } = Document.prototype;
  const { compareDocumentPosition: comparePosition, getRootNode } = node;
  const {
    getAttribute,
    getAttributeNames,
    hasAttribute,
    hasAttributes,
    matches,
    closest,
    checkVisibility,
    querySelector,
    querySelectorAll,
  } = element;
  const { getBoundingClientRect, getClientRects } = element;
  /** Without a prototype, in which the browser would look for all it may hold. */
  const VISIBLE = Object.assign(Object.create(null), { visibilityProperty: true });
  const MOST_LOOKED_AT = 2000;

  /** Only these may have a shadow root, apart from custom elements. */
  const HOSTS = new Set(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split(
      " ",
    ),
  );

  /** @type {TabhubDom["tag"]} */
  const tag = (el) => getLocalName.call(el);

  /** @type {TabhubDom["isElement"]} */
  const isElement = (thing) => thing !== null && getNodeType.call(thing) === Node.ELEMENT_NODE;

  /** @param {string} name */
  function mayHost(name) {
    return HOSTS.has(name) || name.includes("-");
  }

  /** @type {TabhubDom["shadowRoot"]} */
  function shadowRoot(el) {
    if (!mayHost(tag(el))) return null;
    return el instanceof HTMLElement ? chrome.dom.openOrClosedShadowRoot(el) : null;
  }

  /**
   * @param {Node} parent
   * @returns {Node[]}
   */
  function siblings(parent) {
    const list = [];
    for (let n = getFirstChild.call(parent); n; n = getNextSibling.call(n)) list.push(n);
    return list;
  }

  /** @type {TabhubDom["children"]} */
  function children(el, name = tag(el)) {
    const shadow = mayHost(name) ? shadowRoot(el) : null;
    if (shadow) return siblings(shadow);
    const assigned = name === "slot" && el instanceof HTMLSlotElement ? el.assignedNodes() : [];
    return assigned.length ? assigned : siblings(el);
  }

  /** @type {TabhubDom["parent"]} */
  function parent(thing) {
    const slot = isElement(thing) ? getSlot.call(thing) : null;
    const up = slot ?? getParentNode.call(thing);
    if (up instanceof ShadowRoot) return up.host;
    return isElement(up) ? up : null;
  }

  /** @type {TabhubDom["holds"]} */
  function holds(ancestor, inner) {
    for (let n = inner; n; n = parent(n)) if (n === ancestor) return true;
    return false;
  }

  /** @type {TabhubDom["isRendered"]} */
  function isRendered(el) {
    if (checkVisibility.call(el)) return true;
    // Such an element has no box, but its children have.
    return getComputedStyle(el).display === "contents";
  }

  /**
   * @param {Node} from
   * @returns {Generator<Element>}
   */
  function* everyElement(from) {
    const ahead = [getFirstChild.call(from)];
    while (ahead.length) {
      const found = ahead.pop();
      if (!found) continue;
      ahead.push(getNextSibling.call(found));
      if (!isElement(found)) continue;
      yield found;
      const shadow = shadowRoot(found);
      ahead.push(getFirstChild.call(found), shadow && getFirstChild.call(shadow));
    }
  }

  /** @type {TabhubDom["rawText"]} */
  function rawText(el, limit) {
    const ahead = [getFirstChild.call(el)];
    let text = "";
    for (let looked = 0; ahead.length && looked < MOST_LOOKED_AT && text.length < limit; looked++) {
      const found = ahead.pop();
      if (!found) continue;
      ahead.push(getNextSibling.call(found), getFirstChild.call(found));
      if (getNodeType.call(found) === Node.TEXT_NODE) text += found.data.slice(0, limit);
    }
    return text;
  }

  /** @type {TabhubDom["queryDeep"]} */
  function* queryDeep(selector, within) {
    for (const from of [within && shadowRoot(within), within ?? document]) {
      if (!from) continue;
      for (const el of everyElement(from)) if (matches.call(el, selector)) yield el;
    }
  }

  /** @type {TabhubDom["queryAll"]} */
  function queryAll(within, selector) {
    const { querySelectorAll } =
      within === document ? Document.prototype : DocumentFragment.prototype;
    return [...querySelectorAll.call(within, selector)];
  }

  /** @type {TabhubDom["rootsIn"]} */
  function* rootsIn(from) {
    if (isElement(from)) yield* shadowsOf(from);
    else yield from;
    for (const el of everyElement(from)) {
      const shadow = shadowRoot(el);
      if (shadow) yield shadow;
    }
  }

  /** @param {Element} el */
  function* shadowsOf(el) {
    const shadow = shadowRoot(el);
    if (shadow) yield* rootsIn(shadow);
  }

  return {
    firstChild: (n) => getFirstChild.call(n),
    nextSibling: (n) => getNextSibling.call(n),
    firstElement: (el) => getFirstElement.call(el),
    lastElement: (el) => getLastElement.call(el),
    nextElement: (el) => getNextElement.call(el),
    previousElement: (el) => getPreviousElement.call(el),
    isElement,
    isText: /** @type {TabhubDom["isText"]} */ ((n) => getNodeType.call(n) === Node.TEXT_NODE),
    tag,
    attr: (el, name) => getAttribute.call(el, name),
    attributeNames: (el) => getAttributeNames.call(el),
    isBare: (el) => !hasAttributes.call(el),
    has: (el, name) => hasAttribute.call(el, name),
    matches: (el, selector) => matches.call(el, selector),
    closest: (el, selector) => closest.call(el, selector),
    holdsAny: (el, selector) => querySelector.call(el, selector) !== null,
    rect: (el) => getBoundingClientRect.call(el),
    rects: (el) => getClientRects.call(el),
    isBefore: (n, other) =>
      (comparePosition.call(n, other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
    isConnected: (n) => getConnected.call(n),
    root: (n) => /** @type {Document | ShadowRoot} */ (getRootNode.call(n)),
    shadowRoot,
    children,
    parent,
    holds,
    isRendered,
    isVisible: (el) => checkVisibility.call(el, VISIBLE),
    documentElement: () => getDocumentElement.call(document),
    deadline(maxMs) {
      // The browser may take any time to lay out pending changes; a walk's time limit starts after
      // that, or it could end before its first step.
      const root = getDocumentElement.call(document);
      if (root) getBoundingClientRect.call(root);
      return performance.now() + maxMs;
    },
    body: () => getBody.call(document),
    activeElement: () => getActive.call(document),
    contentType: () => getContentType.call(document),
    isComplete: () => getReadyState.call(document) === "complete",
    markup: (el) => getOuterHtml.call(el),
    queryIn: (el, selector) => [...querySelectorAll.call(el, selector)],
    range: () => createRange.call(document),
    treeWalker: (from, what) => createTreeWalker.call(document, from, what),
    queryDeep,
    queryAll,
    rootsIn,
    rawText,
    innerText: (el) => getInnerText.call(el),
    isContentEditable: (el) => getContentEditable.call(el),
  };
});
