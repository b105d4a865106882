// A plugin for a site that has no API: its tools do what a person does in the page, and read what
// the page shows afterwards. There is no build step; this file is the source.
(() => {
  "use strict";
  const NAME = "demo-shop";
  const MARK = "The tabhub demo shop";

  /** An error that tells the agent which kind it is, and whether it may try again. */
  function failure(message, category) {
    return Object.assign(new Error(message), { code: category.toUpperCase(), category });
  }

  // What the person would see in the developer tools reaches the agent's client too.
  function log(message) {
    const entries = [{ level: "info", message, data: [], ts: new Date().toISOString() }];
    const nonce = globalThis.__openTabs._logNonce ?? "";
    window.postMessage({ type: "opentabs:plugin-logs", plugin: NAME, entries, nonce }, "*");
  }

  const byId = (id) => document.getElementById(id);
  const rows = (id) => [...byId(id).querySelectorAll("li")];
  const wordsOf = (row) => row.querySelector("span").textContent;

  function submit(id, field, value) {
    const form = byId(id);
    form.elements.namedItem(field).value = value;
    form.requestSubmit();
  }

  function products() {
    return rows("products").map((row) => {
      const [name, price] = wordsOf(row).split(" · ");
      return { name, price: Number(price), row };
    });
  }

  function cart() {
    const items = rows("cart").map((row) => {
      const [quantity, name] = wordsOf(row).split(" × ");
      return { name, quantity: Number(quantity) };
    });
    return { items, total: Number(byId("total").textContent) };
  }

  const handlers = {
    async search_products({ query }) {
      submit("search", "query", query);
      return { products: products().map(({ name, price }) => ({ name, price })) };
    },

    async add_to_cart({ product, quantity }, { reportProgress }) {
      const wanted = product.toLowerCase();
      const found = products().find(({ name }) => name.toLowerCase().startsWith(wanted));
      if (!found) throw failure(`The shop does not show a product ${product}.`, "not_found");
      for (let done = 1; done <= quantity; done++) {
        found.row.querySelector("button").click();
        reportProgress({ progress: done, total: quantity, message: found.name });
      }
      log(`added ${quantity} × ${found.name}`);
      return cart();
    },

    async view_cart() {
      return cart();
    },

    async order({ name }) {
      if (!cart().items.length) throw failure("The cart is empty.", "validation");
      submit("checkout", "name", name);
      return { message: byId("said").textContent };
    },
  };

  const tools = Object.entries(handlers).map(([name, handle]) => Object.freeze({ name, handle }));
  const adapter = Object.freeze({
    name: NAME,
    tools,
    // Other pages on this machine have the same address, but not this heading.
    async isReady() {
      return document.querySelector("h1")?.textContent === MARK && rows("products").length > 0;
    },
    teardown() {},
  });

  // An earlier version may have locked its place, so the containers are built again.
  const shared = globalThis.__openTabs ?? {};
  shared.adapters?.[NAME]?.teardown();
  globalThis.__openTabs = { ...shared, adapters: { ...shared.adapters, [NAME]: adapter } };
})();
