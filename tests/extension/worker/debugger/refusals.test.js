import assert from "node:assert/strict";
import { test } from "node:test";

const stored = { refused: [9] };
globalThis.chrome = {
  storage: {
    session: { get: async () => stored, set: async (values) => void Object.assign(stored, values) },
  },
};
const { NoDebugger, requireWilling } =
  await import("../../../../extension/worker/debugger/refusals.js");
const { releaseAll, report, restoreAll } =
  await import("../../../../extension/worker/shared/tab-state.js");

test("the next worker too does not debug a tab in which the person cancelled", async () => {
  await restoreAll();
  assert.throws(() => requireWilling(9), NoDebugger);
  report("detached", 7, "canceled_by_user");
  report("detached", 8, "target_closed");
  assert.deepEqual(stored.refused, [9, 7]);
  requireWilling(8);
});

test("sharing the tab again, or closing it, ends the refusal", async () => {
  await releaseAll(9, 100);
  report("forget", 7);
  requireWilling(9);
  requireWilling(7);
  assert.deepEqual(stored.refused, []);
});
