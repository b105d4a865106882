// Runs the adapter against a small document of our own: node --test

const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");
const { runInNewContext } = require("node:vm");

const dist = join(__dirname, "..", "dist");
const adapterSource = readFileSync(join(dist, "adapter.iife.js"), "utf8");
const { tools } = JSON.parse(readFileSync(join(dist, "tools.json"), "utf8"));

const ELEMENTS = {
  "h1, h2, h3": [{ textContent: "\n  Welcome  back" }],
  "a[href]": [
    { textContent: "All orders", href: "https://scaffold.example/orders" },
    { textContent: "Help", href: "https://scaffold.example/help" },
  ],
};

/** The adapter in a page that has these elements. */
function load() {
  const page = {
    document: {
      title: "A page",
      readyState: "complete",
      querySelectorAll: (selector) => ELEMENTS[selector] ?? [],
    },
    location: { href: "https://scaffold.example/" },
  };
  runInNewContext(adapterSource, page);
  return page.__openTabs.adapters["scaffold-name"];
}

/** Calls a tool as tabhub does; the result has passed through JSON. */
async function call(name, input) {
  const tool = load().tools.find((each) => each.name === name);
  return JSON.parse(JSON.stringify(await tool.handle(input)));
}

test("the adapter has exactly the tools of tools.json", () => {
  const names = load().tools.map(({ name }) => name);
  assert.equal(names.join(), tools.map(({ name }) => name).join());
});

test("it is ready in a loaded page", async () => {
  assert.equal(await load().isReady(), true);
});

test("get_page returns title, address and headings", async () => {
  assert.deepEqual(await call("get_page", {}), {
    title: "A page",
    url: "https://scaffold.example/",
    headings: ["Welcome back"],
  });
});

test("list_links finds links by their text", async () => {
  const found = await call("list_links", { contains: "order", limit: 20 });
  assert.deepEqual(found.links, [{ text: "All orders", url: "https://scaffold.example/orders" }]);
});
