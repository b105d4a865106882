import assert from "node:assert/strict";
import { test } from "node:test";

const log = [];
const PANEL = "chrome-extension://ours/panel/panel.html";
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1, getLastFocused: async () => ({ id: 1 }) },
  runtime: { getManifest: () => ({}) },
  tabs: {
    TAB_ID_NONE: -1,
    get: async (id) => ({ id, url: PANEL }),
    query: async () => {
      log.push("looked");
      return [{ id: 5, url: "u".repeat(9000), title: "t".repeat(9000), groupId: -1, windowId: 1 }];
    },
  },
};
const { runCommand } = await import("../../../extension/worker/commands.js");

const context = () => ({
  input: {},
  signal: new AbortController().signal,
  progress: () => {},
  reportTabChanges: async () => void log.push("reported"),
});

test("a list of tabs keeps its order among the reports of changes", async () => {
  log.length = 0;
  const { tabs } = await runCommand("tabs.list", context());
  assert.deepEqual(log, ["reported", "looked"]);
  assert.equal(tabs[0].tabId, 5);
});

test("addresses and titles have a limit", async () => {
  const { tabs } = await runCommand("tabs.list", context());
  assert.equal(tabs[0].url.length, 2000);
  assert.equal(tabs[0].title.length, 500);
});

test("only names in the table are commands", async () => {
  await assert.rejects(runCommand("tabs.explode", context()), { reason: "unknown_command" });
});

const IN_PAGES = [
  ..."capture click dialog drag evaluate fill find hover html pdf press query".split(" "),
  ..."read scroll select storage styles text upload wait".split(" "),
];
const ON_TABS = ["cookies.get", "cookies.set", "site.clear", "tabs.focus", "tabs.navigate"];
for (const name of [...IN_PAGES.map((word) => `page.${word}`), ...ON_TABS]) {
  test(`${name} is not for pages of extensions`, async () => {
    const onPanel = { ...context(), tabId: 6, input: { url: "https://example.com", code: "1" } };
    await assert.rejects(runCommand(name, onPanel), { reason: "needs_person" });
  });
}

test("no tab is opened on a page of an extension", async () => {
  for (const url of [PANEL, ` ${PANEL}`, PANEL.toUpperCase(), `view-source:${PANEL}`]) {
    const opening = runCommand("tabs.open", { ...context(), input: { url } });
    await assert.rejects(opening, { reason: "needs_person" });
  }
});
