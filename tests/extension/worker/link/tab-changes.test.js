import assert from "node:assert/strict";
import { test } from "node:test";

const tabOf = (id) => ({ id, url: "https://example.com", groupId: -1, windowId: 1 });
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: {
    TAB_ID_NONE: -1,
    get: (id) => new Promise((resolve) => setImmediate(() => resolve(tabOf(id)))),
  },
};
const { TabChanges } = await import("../../../../extension/worker/link/tab-reporter.js");

function newsTold() {
  const told = [];
  const news = new TabChanges(({ tabId, state, openedBy }) => told.push([tabId, state, openedBy]));
  return { news, told };
}

test("whose page opened a tab is told with it when that is known", () => {
  const { news, told } = newsTold();
  void news.openedBy(2, 1);
  news.created(tabOf(2));
  assert.deepEqual(told, [[2, "opened", 1]]);
});

test("whose page opened a tab is told afterwards when it is not, and only once", async () => {
  const { news, told } = newsTold();
  news.created(tabOf(2));
  await news.openedBy(2, 1);
  news.updated(2, { title: "new" }, tabOf(2));
  await news.flush();
  assert.deepEqual(told, [
    [2, "opened", undefined],
    [2, "updated", 1],
    [2, "updated", undefined],
  ]);
});

test("news that are being looked up already are waited for", async () => {
  const { news, told } = newsTold();
  void news.openedBy(2, 1);
  await news.flush();
  assert.deepEqual(told, [[2, "updated", 1]]);
});

test("that a tab is shown now says nothing of who opened it", async () => {
  const { news, told } = newsTold();
  await Promise.all([news.activated(2), news.openedBy(2, 1)]);
  assert.deepEqual(told, [
    [2, "activated", undefined],
    [2, "updated", 1],
  ]);
});
