import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

globalThis.chrome = {
  runtime: { id: "ours", getURL: (path) => `chrome-extension://ours/${path}` },
  storage: { session: { get: async () => ({}), set: async () => {} } },
  tabs: { get: async () => ({}) },
  webNavigation: { getFrame: async () => null },
};
const { frameConnected } = await import("../../../../extension/worker/frames/frames.js");
const { eraseOutlines, outlineTargets, whileUnlined } =
  await import("../../../../extension/worker/input/target-outline.js");
const { requireConfirmed } = await import("../../../../extension/worker/input/asked-targets.js");

const TAB = 4;
const RANGE = { slot: 0, next: 0 };
let shown, log, answers;

/** A frame whose document draws and erases outlines, and answers what it is asked. */
function openFrame({ isDeaf = false } = {}) {
  const port = { name: "frame", disconnect() {} };
  port.sender = { id: "ours", frameId: 0, tab: { id: TAB }, url: "https://a.example/" };
  port.sender.documentId = "d1";
  port.sender.origin = "https://a.example";
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: (listener) => (port.close = listener) };
  port.postMessage = ({ id, type, body }) => {
    if (isDeaf) return;
    if (type === "outline") shown = body.ref;
    if (type === "unline") queueMicrotask(() => (shown = undefined));
    if (type === "outline" || type === "unline") log.push(type);
    const given = answers[type];
    const isError = given instanceof Error;
    const error = isError && { reason: given.reason, message: given.message };
    queueMicrotask(() =>
      port.say(isError ? { id, error } : { id, value: { value: given, next: 9 } }),
    );
  };
  frameConnected(port);
  port.say({ type: "hello", range: RANGE });
}
openFrame();

beforeEach(async () => {
  eraseOutlines();
  await settled();
  [shown, log, answers] = [undefined, [], {}];
});

const settled = () => new Promise((resolve) => setImmediate(resolve));
const outline = (refs, milliseconds = 60_000) =>
  outlineTargets({ tabId: TAB, input: { refs, milliseconds } });

test("an outline is drawn, replaced and ended", async () => {
  await outline(["ref_7"]);
  assert.equal(shown, 7);
  await outline(["ref_8"]);
  assert.equal(shown, 8);
  await outline([]);
  assert.equal(shown, undefined);
});

test("while another command runs in the tab there is no outline", async () => {
  await outline(["ref_7"]);
  await whileUnlined(TAB, async () => {
    assert.equal(shown, undefined);
    await whileUnlined(TAB, async () => assert.equal(shown, undefined));
    assert.equal(shown, undefined);
    await outline(["ref_8"]);
    assert.equal(shown, undefined);
  });
  await settled();
  assert.equal(shown, 8);
  await assert.rejects(whileUnlined(TAB, () => Promise.reject(new Error("no"))));
  await settled();
  assert.equal(shown, 8);
});

test("an outline that ends during a command does not come back", async () => {
  await outline(["ref_7"]);
  await whileUnlined(TAB, () => outline([]));
  await settled();
  assert.equal(shown, undefined);
});

test("orders that overlap leave the last one", async () => {
  await Promise.all([outline(["ref_7"]), outline([]), outline(["ref_8"])]);
  assert.equal(shown, 8);
});

test("an outline ends when its time is over, and when nobody looks any more", async () => {
  await outline(["ref_7"], 0);
  assert.deepEqual([shown, log], [undefined, []]);
  await outline(["ref_7"]);
  eraseOutlines();
  await settled();
  assert.equal(shown, undefined);
  await whileUnlined(TAB, async () => {});
  await settled();
  assert.equal(shown, undefined);
});

test("a command that begins while an outline is drawn sees none of it", async () => {
  const drawing = outline(["ref_7"]);
  await whileUnlined(TAB, async () => {
    await drawing;
    await settled();
    assert.equal(shown, undefined);
  });
  await settled();
  assert.equal(shown, 7);
});

test("a command that begins right after an outline was ended sees none of it", async () => {
  for (const end of [() => outline([]), eraseOutlines]) {
    await outline(["ref_7"]);
    void end();
    await whileUnlined(TAB, async () => assert.equal(shown, undefined));
  }
});

test("a page without an outline is not asked anything", async () => {
  await whileUnlined(TAB, async () => {});
  assert.deepEqual(log, []);
});

const context = () => ({
  tabId: TAB,
  signal: new AbortController().signal,
  reach: { require() {}, allows: () => true },
});
const CONFIRMED = { ref: "ref_7", role: "button", name: "Order", position: 3 };
const NOW = { ref: 7, role: "button", name: "Order", sensitive: false, position: 3 };

test("an element is confirmed as long as it has its ref, role, name and position", async () => {
  answers.asked = NOW;
  await requireConfirmed(context(), { ref: "ref_7", confirmed: CONFIRMED });
  await requireConfirmed(context(), { ref: "ref_8" });
  const stale = Object.assign(new Error("gone"), { reason: "stale_ref" });
  const changes = [{ name: "Pay" }, { role: "link" }, { ref: 9 }, { position: 4 }];
  for (const now of [...changes.map((change) => ({ ...NOW, ...change })), stale]) {
    answers.asked = now;
    const acting = requireConfirmed(context(), { ref: "ref_7", confirmed: CONFIRMED });
    await assert.rejects(acting, { reason: "target_changed" });
  }
});

test("another failure keeps its own reason", async () => {
  answers.asked = Object.assign(new Error("no"), { reason: "permission_off" });
  const acting = requireConfirmed(context(), { ref: "ref_7", confirmed: CONFIRMED });
  await assert.rejects(acting, { reason: "permission_off" });
});

test("a page that connects again while it is asked is asked again", async () => {
  answers.asked = NOW;
  openFrame({ isDeaf: true });
  const acting = requireConfirmed(context(), { ref: "ref_7", confirmed: CONFIRMED });
  await settled();
  openFrame();
  await acting;
});
