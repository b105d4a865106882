import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  runtime: { getManifest: () => ({}) },
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://shop.example/" }) },
  debugger: {
    attach: async () => {
      throw new Error("Cannot access a chrome-extension:// URL of different extension");
    },
    detach: async () => {},
    sendCommand: async () => {},
  },
};
const { forgetTab } = await import("../../../../extension/worker/debugger/debugger.js");
const { CommandError } = await import("../../../../extension/worker/shared/command-errors.js");
const { untrustedHand } = await import("../../../../extension/worker/input/hand.js");
const { trustOf, withHand } = await import("../../../../extension/worker/input/hand.js");
const { NoDebugger } = await import("../../../../extension/worker/debugger/refusals.js");

const failing = (reason) => ({
  ask: async () => {
    throw new CommandError(reason, "");
  },
});

test("a script acts if the debugger is refused and scripts are allowed", async () => {
  const { trusted } = await withHand({ tabId: 1, untrusted: true }, async ({ hand }) => hand);
  assert.equal(trusted, false);
  await assert.rejects(
    withHand({ tabId: 1, untrusted: false }, async () => assert.fail("it was done")),
    ({ reason, message }) => reason === "needs_person" && message.includes("untrustedInput"),
  );
});

test("a script does not repeat an action that the debugger has begun", async () => {
  globalThis.chrome.debugger.attach = async () => {};
  let begun = 0;
  const work = async () => {
    begun++;
    throw new NoDebugger("cancelled meanwhile");
  };
  await assert.rejects(withHand({ tabId: 2, untrusted: true }, work), NoDebugger);
  assert.equal(begun, 1);
  forgetTab(2);
});

test("a page that stops answering, as behind a dialog, may have received the input", async () => {
  const click = (reason) => untrustedHand.click(failing(reason), { x: 1, y: 1 }, {});
  await assert.rejects(click("timeout"), { reason: "page_may_have_received" });
  await click("navigated_away");
  await assert.rejects(click("covered_by"), { reason: "covered_by" });
});

test("a result says whether the debugger or a script acted", () => {
  assert.deepEqual(trustOf({ trusted: true }), { trusted: true });
  assert.deepEqual(trustOf({ trusted: true }, false), { trusted: false });
  assert.deepEqual(trustOf(untrustedHand), { trusted: false, byScript: true });
});
