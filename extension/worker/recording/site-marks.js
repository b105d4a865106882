/**
 * Functions that run in the page, to see what a site is made of. Each is sent as text, so that it
 * uses nothing outside itself. No value of a field, a storage or a cookie leaves the page.
 */

/**
 * Runs in our isolated world, where the page cannot replace functions of the browser. Elements with
 * hostile names can hide members of `document` and of forms, so the prototypes are asked.
 */
export async function describePage() {
  const CSRF = /csrf|xsrf|authenticity/i;
  const MOST = 100;
  const all = (/** @type {string} */ selector, /** @type {Element} */ root) =>
    root
      ? [...Element.prototype.querySelectorAll.call(root, selector)]
      : [...Document.prototype.querySelectorAll.call(document, selector)];
  const whole = /** @type {any} */ (undefined);
  const attribute = (/** @type {Element} */ element, /** @type {string} */ name) =>
    Element.prototype.getAttribute.call(element, name) ?? "";
  const nameOf = (/** @type {Element} */ element) =>
    attribute(element, "name") || attribute(element, "id");

  const typeOf = (/** @type {Element} */ field) => {
    const tag = field.localName;
    return tag === "input" ? attribute(field, "type").toLowerCase() || "text" : tag;
  };
  const isField = (/** @type {Element} */ field) =>
    nameOf(field) && !["submit", "button", "image", "reset"].includes(typeOf(field));
  const describeForm = (/** @type {Element} */ form) => ({
    action: new URL(attribute(form, "action") || location.href, location.href).href,
    method: attribute(form, "method").toUpperCase() || "GET",
    name: nameOf(form),
    fields: all("input, select, textarea", form)
      .filter(isField)
      .slice(0, MOST)
      .map((field) => ({
        name: nameOf(field),
        type: typeOf(field),
        required: Element.prototype.hasAttribute.call(field, "required"),
      })),
  });
  const formOf = (/** @type {Element} */ form) => {
    try {
      return [describeForm(form)];
    } catch {
      // Its action is no address.
      return [];
    }
  };

  const keysOf = (/** @type {"localStorage" | "sessionStorage"} */ kind) => {
    try {
      const storage = window[kind];
      const count = Math.min(storage.length, 1000);
      return Array.from({ length: count }, (_, index) => storage.key(index) ?? "");
    } catch {
      // The browser gives this page no storage.
      return [];
    }
  };
  const databases = await Promise.race([
    indexedDB.databases().catch(() => []),
    new Promise((resolve) => setTimeout(resolve, 2000, [])),
  ]);

  const inPage = performance.getEntriesByType("resource").slice(-1000);
  const title = /** @type {any} */ (Object.getOwnPropertyDescriptor(Document.prototype, "title"));
  return {
    url: location.href,
    title: String(title.get.call(document)),
    csrf: all("meta[name], input[type=hidden]", whole)
      .map(nameOf)
      .filter((n) => CSRF.test(n)),
    requests: inPage.map((/** @type {any} */ { name, initiatorType }) => ({
      url: name,
      type: initiatorType,
    })),
    localStorage: keysOf("localStorage"),
    sessionStorage: keysOf("sessionStorage"),
    databases: databases.map((/** @type {any} */ { name }) => name ?? ""),
    forms: all("form", whole).slice(0, MOST).flatMap(formOf),
    // The names that every window has: our world has none of the page's.
    usual: Object.getOwnPropertyNames(window),
  };
}

/** Runs in the page's own world. The page can make all of this up. */
export function describeGlobals() {
  const own = /** @type {any} */ (window);
  const all = (/** @type {string} */ selector) => [
    ...Document.prototype.querySelectorAll.call(document, selector),
  ];
  const has = (/** @type {string} */ selector) => all(selector).length > 0;
  const members = all("body, body > *, body > * > *")
    .slice(0, 200)
    .flatMap((element) => Object.getOwnPropertyNames(element));
  const marked = (/** @type {RegExp} */ mark) => members.some((name) => mark.test(name));
  /** @type {[string, () => unknown][]} what is found, or a version */
  const marks = [
    ["React", () => own.React?.version ?? marked(/^__react(Container|Fiber)\$|^_reactRoot/)],
    ["Preact", () => own.preact?.version ?? marked(/^__k$/)],
    ["Next.js", () => own.next?.version ?? (own.__NEXT_DATA__ || own.__next_f)],
    ["Vue", () => own.Vue?.version ?? (own.__VUE__ || marked(/^__vue_(app__|_$)/))],
    ["Nuxt", () => own.__NUXT__ || own.$nuxt],
    ["Angular", () => all("[ng-version]")[0]?.getAttribute("ng-version")],
    ["AngularJS", () => own.angular?.version?.full],
    ["Svelte", () => own.__svelte?.v?.values?.().next().value ?? has("[class*='svelte-']")],
    ["Solid", () => own._$HY],
    ["Ember", () => own.Ember?.VERSION],
    ["Backbone", () => own.Backbone?.VERSION],
    ["Alpine", () => own.Alpine?.version ?? has("[x-data]")],
    ["htmx", () => own.htmx?.version ?? has("[hx-get], [hx-post]")],
    ["Remix", () => own.__remixContext],
    ["Gatsby", () => own.___gatsby ?? has("#___gatsby")],
    ["Turbo", () => own.Turbo && true],
    ["jQuery", () => own.jQuery?.fn?.jquery],
    ["WordPress", () => has("meta[name=generator][content^=WordPress]")],
  ];
  const frameworks = marks.flatMap(([name, look]) => {
    try {
      const found = look();
      return found ? [{ name, version: typeof found === "string" ? found : "" }] : [];
    } catch {
      return [];
    }
  });
  return { frameworks, names: Object.getOwnPropertyNames(window).slice(0, 5000) };
}
