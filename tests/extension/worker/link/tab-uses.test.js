import assert from "node:assert/strict";
import { test } from "node:test";

const kept = {};
globalThis.chrome = {
  storage: {
    session: {
      get: async (name) => ({ [name]: structuredClone(kept[name]) }),
      set: async (values) => void Object.assign(kept, structuredClone(values)),
    },
  },
};
const { TabUses } = await import("../../../../extension/worker/link/tab-uses.js");
const { register } = await import("../../../../extension/worker/shared/tab-state.js");

const ended = [];
for (const name of ["interception", "emulation", "recordings"]) {
  register({ name, released: async (tabId) => void ended.push(`${name} ${tabId}`) });
}
const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve));
};

test("after a restart only the server on this machine has its tabs", async () => {
  const run = async () => ({});
  const [local, far] = [{ tabs: new Set(), isLocal: true }, { tabs: new Set() }];
  const before = new TabUses();
  for (const tabId of [1, 2]) await before.sharing(local, run)("page.read", { tabId });
  await before.sharing(far, run)("intercept.start", { tabId: 2 });
  await before.sharing(far, run)("page.read", { tabId: 3 });
  await before.sharing(local, run)("page.emulate", { tabId: 1 });
  await settled();
  const after = new TabUses();
  const again = { tabs: new Set(), isLocal: true };
  await after.restore();
  after.restored(again);
  await settled();
  assert.deepEqual([...again.tabs], [1, 2]);
  const all = ["emulation 3", "interception 2", "interception 3", "recordings 3"];
  assert.deepEqual(ended.toSorted(), all);
});
