// The code of the plugin for the page. It is written by hand: edit it, and a server in dev mode
// (tabhub start --dev) puts the new version into the open pages at once.
(() => {
  "use strict";
  const NAME = "scaffold-name";

  /** The text of an element in one line. */
  const textOf = (element) => (element.textContent ?? "").trim().replace(/\s+/g, " ");

  // Each tool of tools.json. `handle` gets the arguments, and returns what JSON can express. An
  // error with `code` and `category` tells the agent more (auth, rate_limit, not_found, validation).
  const tools = [
    {
      name: "get_page",
      async handle() {
        const headings = [...document.querySelectorAll("h1, h2, h3")].map(textOf);
        return { title: document.title, url: location.href, headings: headings.slice(0, 50) };
      },
    },
    {
      name: "list_links",
      async handle({ contains, limit }) {
        const words = contains.toLowerCase();
        const links = [...document.querySelectorAll("a[href]")]
          .map((link) => ({ text: textOf(link), url: link.href }))
          .filter(({ text }) => text.toLowerCase().includes(words));
        return { links: links.slice(0, limit) };
      },
    },
  ];

  const adapter = {
    name: NAME,
    tools,
    // Whether the tools can be used now. Many plugins check here that the person is logged in.
    async isReady() {
      return document.readyState !== "loading";
    },
    // Called before a newer version takes over: end timers and listeners here.
    teardown() {},
  };

  // An earlier version may have locked its place, so the containers are built again.
  const shared = globalThis.__openTabs ?? {};
  shared.adapters?.[NAME]?.teardown();
  tools.forEach(Object.freeze);
  const adapters = { ...shared.adapters, [NAME]: Object.freeze(adapter) };
  globalThis.__openTabs = { ...shared, adapters };
})();
