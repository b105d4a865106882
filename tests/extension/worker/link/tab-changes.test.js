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

function recordedChanges() {
  const reports = [];
  const changes = new TabChanges(({ tabId, state, openedBy }) =>
    reports.push([tabId, state, openedBy]),
  );
  return { changes, reports };
}

test("a new tab is reported with its opener if that is known", () => {
  const { changes, reports } = recordedChanges();
  void changes.openedBy(2, 1);
  changes.created(tabOf(2));
  assert.deepEqual(reports, [[2, "opened", 1]]);
});

test("an opener that is known later is reported afterwards, once", async () => {
  const { changes, reports } = recordedChanges();
  changes.created(tabOf(2));
  await changes.openedBy(2, 1);
  changes.updated(2, { title: "new" }, tabOf(2));
  await changes.flush();
  assert.deepEqual(reports, [
    [2, "opened", undefined],
    [2, "updated", 1],
    [2, "updated", undefined],
  ]);
});

test("a flush waits for changes that are being looked up", async () => {
  const { changes, reports } = recordedChanges();
  void changes.openedBy(2, 1);
  await changes.flush();
  assert.deepEqual(reports, [[2, "updated", 1]]);
});

test("the activation of a tab is reported without its opener", async () => {
  const { changes, reports } = recordedChanges();
  await Promise.all([changes.activated(2), changes.openedBy(2, 1)]);
  assert.deepEqual(reports, [
    [2, "activated", undefined],
    [2, "updated", 1],
  ]);
});
