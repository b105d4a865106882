import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

let grouped, groups;
globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: {
    group: async (how) => {
      grouped.push(how);
      return how.groupId ?? 77;
    },
  },
  tabGroups: {
    get: async (id) => groups.get(id) ?? Promise.reject(new Error("No group with id")),
    update: async (id, how) => void groups.set(id, how),
  },
};
const { groupOf, joinGroup } = await import("../../../../extension/worker/tabs/tab-groups.js");

beforeEach(() => {
  grouped = [];
  groups = new Map([[5, { windowId: 1 }]]);
});

const group = { title: "Helper", color: "blue", groupId: 5 };

test("a tab joins the group that is in its own window", async () => {
  assert.equal(await joinGroup({ id: 9, windowId: 1 }, group), 5);
  assert.deepEqual(grouped, [{ tabIds: 9, groupId: 5 }]);
});

for (const [how, saved] of [
  ["is in another window", group],
  ["is gone", { ...group, groupId: 6 }],
  ["never existed", { title: "Helper", color: "blue" }],
]) {
  test(`a group that ${how} is created in the tab's window`, async () => {
    assert.equal(await joinGroup({ id: 9, windowId: 2 }, saved), 77);
    assert.deepEqual(grouped, [{ tabIds: 9, createProperties: { windowId: 2 } }]);
    assert.deepEqual(groups.get(77), { title: "Helper", color: "blue" });
  });
}

test("a tab that cannot be grouped gets no group", async () => {
  const { group: works } = chrome.tabs;
  chrome.tabs.group = () => Promise.reject(new Error("Tabs can only be moved to normal windows."));
  assert.equal(await joinGroup({ id: 9, windowId: 1 }, group), undefined);
  chrome.tabs.group = works;
});

test("a group needs a title and one of the browser's colours", () => {
  const bad = [
    null,
    {},
    { title: "x" },
    { title: "x", color: "black" },
    { title: 1, color: "red" },
  ];
  for (const invalid of bad) {
    assert.throws(() => groupOf(invalid), { reason: "invalid_arguments" });
  }
  assert.deepEqual(groupOf({ ...group, more: 1 }), group);
  assert.equal(groupOf({ title: "x".repeat(999), color: "red" }).title.length, 100);
});
