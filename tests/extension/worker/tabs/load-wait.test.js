import assert from "node:assert/strict";
import { test } from "node:test";

const loads = {};
const event = (name) => ({ addListener: (listener) => (loads[name] = listener) });
const tab = { id: 1, url: "https://a.example/" };
globalThis.chrome = {
  tabs: { get: async () => ({ ...tab }), onUpdated: event("updated"), TAB_ID_NONE: -1 },
  windows: { WINDOW_ID_NONE: -1 },
  webNavigation: Object.fromEntries(
    "BeforeNavigate Committed DOMContentLoaded Completed ErrorOccurred HistoryStateUpdated ReferenceFragmentUpdated"
      .split(" ")
      .map((name) => [`on${name}`, event(name)]),
  ),
};
const { LoadWait, blankIsThere } = await import("../../../../extension/worker/tabs/load-wait.js");
const { listenToLoads } = await import("../../../../extension/worker/shared/tab-events.js");
listenToLoads();

const OLD = "https://a.example/slow";
const NEW = "https://a.example/next";
const say = (name, url, error) => loads[name]({ tabId: 1, frameId: 0, url, error });
const soon = () => new Promise((resolve) => setImmediate(resolve));

test("the end of the navigation before does not end the wait, however long this one takes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const wait = new LoadWait(1);
  tab.pendingUrl = NEW;
  const done = wait.within(30_000);
  say("BeforeNavigate", NEW);
  say("ErrorOccurred", OLD, "net::ERR_ABORTED");
  t.mock.timers.tick(20_000);
  await soon();
  delete tab.pendingUrl;
  say("Committed", NEW);
  say("Completed", NEW);
  assert.equal(await done, true);
});

test("a navigation that is aborted, and followed by none, fails", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const done = new LoadWait(1).within(30_000);
  say("BeforeNavigate", NEW);
  say("ErrorOccurred", NEW, "net::ERR_ABORTED");
  t.mock.timers.tick(1000);
  await assert.rejects(done, { reason: "navigation_failed" });
});

test("a tab is left only when its blank page is there", async () => {
  tab.pendingUrl = "about:blank";
  let isThere = false;
  const waiting = blankIsThere(1).then(() => (isThere = true));
  await soon();
  assert.equal(isThere, false);
  say("Committed", "about:blank");
  await waiting;
  delete tab.pendingUrl;
  await blankIsThere(1);
});
