/** ARIA roles, explicit and implicit; and which elements a person could act on. */
tabhub.define("roles", () => {
  const { attr, has, closest } = tabhub.dom;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));

  const WIDGETS = words(
    "button checkbox combobox link listbox menuitem menuitemcheckbox " +
      "menuitemradio option radio scrollbar searchbox slider spinbutton switch tab textbox treeitem",
  );
  const NAMED_BY_CONTENT = words(
    "button checkbox heading link menuitem menuitemcheckbox menuitemradio option radio switch " +
      "tab tooltip treeitem",
  );
  const LANDMARKS = words(
    "alertdialog article banner complementary contentinfo dialog feed form grid iframe list " +
      "listbox main menu menubar navigation region search table tablist toolbar tree treegrid",
  );
  const COMPOSITES = words(
    "grid list listbox menu menubar radiogroup table tablist toolbar tree treegrid",
  );
  const PLAIN = words("generic none presentation paragraph rowgroup");
  const INLINE = words(
    "a abbr b bdi bdo big br cite code data del dfn em font i ins kbd label mark q s samp small " +
      "slot span strike strong sub sup time tt u var wbr",
  );
  const SKIPPED = words(
    "base datalist head link meta noframes noscript param script source style template title track",
  );
  const KNOWN = words(
    "alert alertdialog application article banner blockquote button caption cell checkbox code " +
      "columnheader combobox complementary contentinfo definition dialog directory document feed " +
      "figure form generic grid gridcell group heading img image link list listbox listitem log " +
      "main marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation " +
      "none note option paragraph presentation progressbar radio radiogroup region row rowgroup " +
      "rowheader scrollbar search searchbox separator slider spinbutton status switch tab table " +
      "tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem",
  );

  const BY_TAG = new Map(
    Object.entries({
      article: "article",
      aside: "complementary",
      audio: "audio",
      blockquote: "blockquote",
      button: "button",
      canvas: "canvas",
      dd: "definition",
      details: "group",
      dialog: "dialog",
      dt: "term",
      embed: "embed",
      fieldset: "group",
      figure: "figure",
      frame: "iframe",
      h1: "heading",
      h2: "heading",
      h3: "heading",
      h4: "heading",
      h5: "heading",
      h6: "heading",
      hr: "separator",
      iframe: "iframe",
      img: "img",
      li: "listitem",
      main: "main",
      menu: "list",
      meter: "meter",
      nav: "navigation",
      object: "object",
      ol: "list",
      optgroup: "group",
      option: "option",
      output: "status",
      p: "paragraph",
      progress: "progressbar",
      search: "search",
      summary: "button",
      svg: "img",
      table: "table",
      tbody: "rowgroup",
      td: "cell",
      textarea: "textbox",
      tfoot: "rowgroup",
      thead: "rowgroup",
      tr: "row",
      ul: "list",
      video: "video",
    }),
  );
  const BY_INPUT_TYPE = new Map(
    Object.entries({
      button: "button",
      checkbox: "checkbox",
      color: "button",
      file: "button",
      image: "button",
      number: "spinbutton",
      radio: "radio",
      range: "slider",
      reset: "button",
      search: "searchbox",
      submit: "button",
    }),
  );

  const SECTIONING = "article, aside, main, nav, section";
  const isNamed = (/** @type {Element} */ el) =>
    has(el, "aria-label") || has(el, "aria-labelledby") || has(el, "title");

  /** @type {Map<string, (element: Element) => string>} */
  const BY_RULE = new Map([
    ["a", (el) => (has(el, "href") ? "link" : "generic")],
    ["area", (el) => (has(el, "href") ? "link" : "generic")],
    ["footer", (el) => (closest(el, SECTIONING) ? "generic" : "contentinfo")],
    ["form", (el) => (isNamed(el) ? "form" : "generic")],
    ["header", (el) => (closest(el, SECTIONING) ? "generic" : "banner")],
    ["input", (el) => BY_INPUT_TYPE.get((attr(el, "type") ?? "").toLowerCase()) ?? "textbox"],
    ["section", (el) => (isNamed(el) ? "region" : "generic")],
    ["select", (el) => (isListbox(el) ? "listbox" : "combobox")],
    ["th", (el) => (attr(el, "scope") === "row" ? "rowheader" : "columnheader")],
  ]);

  /** @param {Element} el */
  function isListbox(el) {
    return has(el, "multiple") || Number(attr(el, "size")) > 1;
  }

  /**
   * @param {Element} element
   * @param {string} given
   */
  function givenRole(element, given) {
    const role = given
      .toLowerCase()
      .split(/\s+/)
      .find((word) => KNOWN.has(word));
    const isFocusable =
      role === "none" || role === "presentation" ? has(element, "tabindex") : false;
    return isFocusable ? undefined : role;
  }

  return {
    of(element, tag) {
      const given = attr(element, "role");
      const role = given ? givenRole(element, given) : undefined;
      return role ?? BY_RULE.get(tag)?.(element) ?? BY_TAG.get(tag) ?? "generic";
    },
    isWidget: (role) => WIDGETS.has(role),
    isNamedByContent: (role) => NAMED_BY_CONTENT.has(role),
    isComposite: (role) => COMPOSITES.has(role),
    isLandmark: (role) => LANDMARKS.has(role),
    isPlain: (role) => PLAIN.has(role),
    isInline: (tag) => INLINE.has(tag),
    isSkipped: (tag) => SKIPPED.has(tag),
  };
});

/** Which elements a person could act on. */
tabhub.define("interactive", () => {
  const { attr, firstChild, has, holdsAny, isBare } = tabhub.dom;
  const { isWidget } = tabhub.roles;
  const HANDLERS = ["onclick", "onmousedown", "onpointerdown", "ontouchstart"];
  const EDITABLE = new Set(["", "true", "plaintext-only"]);
  const NEVER_POINTED = new Set(["html", "body", "iframe", "option", "optgroup"]);

  /** Containers of these are not targets themselves: their items are. */
  const ITEMS = "li, tr";

  /** @type {TabhubInteractive["isEditable"]} */
  function isEditable(element) {
    const value = attr(element, "contenteditable");
    return value !== null && EDITABLE.has(value.toLowerCase());
  }

  /** @param {Element} element in lists of suggestions, a script moves the focus */
  function isItem(element) {
    const around = tabhub.dom.parent(element);
    return tabhub.dom.tag(element) === "li" || (around && tabhub.dom.tag(around) === "li");
  }

  /** @param {Element} element */
  function isFocusable(element) {
    const given = attr(element, "tabindex");
    if (given === null) return false;
    const index = Number.parseInt(given, 10);
    return index >= 0 || (index < 0 && isItem(element));
  }

  /** @type {TabhubInteractive["isActive"]} */
  function isActive(element, tag, role) {
    if (isWidget(role)) return true;
    if (isBare(element)) return false;
    if (isFocusable(element) || isEditable(element)) return true;
    // Without a URL, only a script can make a link of it; a jump target is empty.
    if (tag === "a" && firstChild(element)) return true;
    if ((tag === "video" || tag === "audio") && has(element, "controls")) return true;
    return HANDLERS.some((name) => has(element, name));
  }

  return {
    isEditable,
    isActive,
    isListening: (element, tag) => tabhub.listening.of(element) !== null && !NEVER_POINTED.has(tag),
    isPointed: (element, tag) =>
      !NEVER_POINTED.has(tag) &&
      getComputedStyle(element).cursor === "pointer" &&
      !holdsAny(element, ITEMS),
    /** A label stands for its control when only the label is visible. */
    hiddenControl(element, tag) {
      const control = tag === "label" ? /** @type {HTMLLabelElement} */ (element).control : null;
      return control && !tabhub.dom.isVisible(control) ? control : null;
    },
  };
});
