import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const noEvent = { addListener() {} };
globalThis.chrome = {
  runtime: { id: "ours", getManifest: () => ({}), getURL: (path) => path },
  storage: { session: { get: async () => ({}), set: async () => {} } },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1, get: async (id) => ({ id, url: "https://a.example/" }) },
  webNavigation: { getFrame: async () => null, getAllFrames: async () => [] },
  debugger: { attach: async () => {}, detach: async () => {}, onEvent: noEvent },
};
const { forgetTab } = await import("../../../../extension/worker/debugger/debugger.js");
const { frameConnected } = await import("../../../../extension/worker/frames/frames.js");
const { fill } = await import("../../../../extension/worker/input/form-fields.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const [TAB, SITE] = [5, "a.example"];
const MINTING = new Set(["asked", "changes", "filled", "settle"]);
let asked, answers;

chrome.debugger.sendCommand = async (_, method) => {
  if (method === "Runtime.evaluate") asked.push("fence");
  return {};
};

function openFrame(frameId = 0, { next } = { next: 9 }) {
  const port = { name: "frame", disconnect() {} };
  port.sender = { frameId, tab: { id: TAB }, url: "https://a.example/", documentId: `d${frameId}` };
  port.sender.origin = "https://a.example";
  port.onMessage = { addListener: (listener) => (port.say = listener) };
  port.onDisconnect = { addListener: (listener) => (port.close = listener) };
  port.postMessage = (message) => [message].flat().forEach(answer);
  const answer = ({ id, type, body }) => {
    asked.push(frameId ? `${type} ${frameId}` : type);
    asked.id = id;
    const value = answers[type]?.(body, frameId);
    if (value instanceof Promise) return;
    const answer = MINTING.has(type) ? { value, next } : value;
    setImmediate(() => port.say({ id, value: answer }));
  };
  frameConnected(port);
  port.say({ type: "hello", range: next && { slot: frameId, next: 0 } });
  return port;
}

const context = (input) => ({
  tabId: TAB,
  site: SITE,
  input: { observe: 500, text: "Ada", ...input },
  signal: new AbortController().signal,
  reach: { allows: () => true, require() {}, explore: async () => {} },
});

const event = (method, params) => report("event", TAB, undefined, `Network.${method}`, params);

const dialog = { type: "alert", message: "", url: "https://a.example/" };
const openDialog = () => report("event", TAB, undefined, "Page.javascriptDialogOpening", dialog);
const closeDialog = () => report("event", TAB, undefined, "Page.javascriptDialogClosed", {});

/** The page's part in it, without what is not waited for. */
const steps = () => asked.filter((type) => type !== "expectChanges" && type !== "unwatch");

beforeEach(async () => {
  asked = [];
  answers = {
    has: () => true,
    fill: () => ({ typed: true, sensitive: false }),
    fillIn: () => ({ typed: true, sensitive: false }),
    settle: ({ changes }) => ({
      arrived: true,
      mutated: true,
      navigating: false,
      changes: changes && answers.changes(changes),
      held: answers.filled(),
    }),
    changes: () => ({ lines: "+status", whole: true }),
    filled: () => ({ value: "Ada" }),
  };
  report("committed", TAB, "https://a.example/");
});

test("the only document of a page is asked to fill its field without being asked before", async () => {
  const main = openFrame();
  const { effect } = await fill(context({ selector: "#name" }));
  assert.equal(effect.value, "Ada");
  assert.equal(effect.changes.lines, "+status");
  asked = [];
  await fill(context({ selector: "#name" }));
  assert.deepEqual(steps(), ["fill", "settle", "fence"]);
  main.close();
});

test("a page that was busy, or could open a file chooser, is asked again with more time", async () => {
  const main = openFrame();
  const orders = [];
  answers.fill = ({ promptly, isCaught }) => {
    orders.push({ isCaught, ms: promptly - Date.now() });
    return orders.length === 3 ? { typed: true, sensitive: false } : { notDone: "yet" };
  };
  const { effect, sensitive } = await fill(context({ selector: "#name" }));
  assert.deepEqual(
    orders.map(({ isCaught }) => isCaught),
    [false, true, true],
  );
  assert.ok(orders[0].ms <= 100 && orders[2].ms > 200 && orders[2].ms <= 400);
  assert.deepEqual([effect.value, sensitive], ["Ada", false]);
  main.close();
});

test("a field is not filled after a call that a dialog has ended", async () => {
  const main = openFrame();
  let until = 0;
  answers.fill = ({ promptly, isCaught }) => {
    if (!isCaught) return { notDone: "yet" };
    // The page gets this order only once its dialog is answered.
    until = promptly;
    openDialog();
    return new Promise(() => {});
  };
  await assert.rejects(fill(context({ selector: "#name" })), { reason: "dialog_open" });
  assert.ok(until > 0 && Date.now() > until);
  closeDialog();
  main.close();
});

test("an answer that a dialog has overtaken counts", async () => {
  const main = openFrame();
  const refused = { reason: "target_changed", message: "It is another one now." };
  answers.fill = () => {
    const { id } = asked;
    openDialog();
    setImmediate(() => {
      main.say({ type: "news" });
      main.say({ id, error: refused });
    });
    return new Promise(() => {});
  };
  await assert.rejects(fill(context({ selector: "#name" })), { reason: "target_changed" });
  closeDialog();
  main.close();
});

test("a page that is busy with the text for longer than it was asked for is asked again", async (t) => {
  const main = openFrame();
  let settles = 0;
  const { settle } = answers;
  answers.settle = (body) => (settles++ ? settle(body) : new Promise(() => {}));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const filling = fill(context({ selector: "#name" }));
  while (!settles) await new Promise(setImmediate);
  await new Promise(setImmediate);
  t.mock.timers.tick(8000);
  t.mock.timers.reset();
  assert.equal((await filling).effect.value, "Ada");
  main.close();
});

test("a text that the page has held up is put in only while the call lasts", async () => {
  const main = openFrame();
  const late = { typed: true, notDone: "late", sensitive: true };
  answers.fill = () => late;
  const orders = [];
  answers.fillIn = ({ promptly, selector, confirmed }) => {
    orders.push({ selector, confirmed, ms: promptly - Date.now() });
    return orders.length === 1 ? { notDone: "yet" } : { typed: true, sensitive: true };
  };
  const confirmed = { ref: "ref_7", role: "textbox", name: "Name" };
  answers.asked = () => ({ ...confirmed, ref: 7 });
  await fill(context({ selector: "#name", confirmed }));
  assert.deepEqual(steps().slice(-5), ["fillIn", "settle", "fillIn", "settle", "fence"]);
  assert.ok(orders.every(({ selector, ms }) => selector === undefined && ms > 100));
  assert.deepEqual(orders[0].confirmed, { ...confirmed, ref: 7 });
  asked = [];
  answers.fill = () => (openDialog(), late);
  const refused = ({ reason, data }) => reason === "dialog_open" && data.sensitive;
  await assert.rejects(fill(context({ selector: "#name" })), refused);
  assert.equal(asked.includes("fillIn"), false);
  closeDialog();
  // The page is busy until its dialog opens, and gets the order when that is answered: too late.
  answers.fill = () => late;
  answers.fillIn = () => (openDialog(), new Promise(() => {}));
  await assert.rejects(fill(context({ selector: "#name" })), refused);
  closeDialog();
  main.close();
});

test("a page that says no number for its next ref keeps the numbers that it has", async () => {
  const main = openFrame(0, { next: undefined });
  const ranges = [];
  const { settle } = answers;
  answers.settle = (body) => (ranges.push(body.range), settle(body));
  await fill(context({ selector: "#name" }));
  await fill(context({ selector: "#name" }));
  assert.ok(Number.isInteger(ranges[0].next));
  assert.deepEqual(ranges[1], ranges[0]);
  main.close();
});

test("a dialog that opens before the page has begun means that nothing was done", async () => {
  const main = openFrame();
  answers.fill = () => (openDialog(), new Promise(() => {}));
  await assert.rejects(fill(context({ selector: "#name" })), { reason: "dialog_open" });
  closeDialog();
  answers.fill = () => {
    openDialog();
    setImmediate(() => main.say({ type: "news" }));
    return new Promise(() => {});
  };
  const { effect, sensitive } = await fill(context({ selector: "#name" }));
  assert.equal(effect.dialog.type, "alert");
  assert.equal(sensitive, true);
  closeDialog();
  main.close();
});

test("a page that goes away before it has begun makes no result", async () => {
  const main = openFrame();
  answers.fill = () => (setImmediate(() => main.close()), new Promise(() => {}));
  await assert.rejects(fill(context({ selector: "#name" })), { reason: "navigated_away" });
});

test("a page that does not say at once what its field holds is asked", async () => {
  const main = openFrame();
  answers.settle = () => ({ arrived: true, mutated: true, navigating: false });
  const { effect } = await fill(context({ selector: "#name" }));
  assert.equal(effect.value, "Ada");
  assert.equal(effect.changes.lines, "+status");
  assert.deepEqual(steps().slice(-4).sort(), ["changes", "fence", "filled", "settle"]);
  main.close();
});

test("a page that the caller may not read is not asked what has changed", async () => {
  const main = openFrame();
  const readable = async () => [];
  const { effect } = await fill({ ...context({ selector: "#name" }), site: undefined, readable });
  assert.equal(effect.changes, undefined);
  assert.equal(asked.includes("changes"), false);
  main.close();
});

test("a field that the page has not is looked for in its frames", async () => {
  const main = openFrame();
  answers.has = (_, frameId) => frameId === 1;
  answers.fill = (_, frameId) =>
    frameId === 1 ? { typed: true, sensitive: false } : { notDone: "elsewhere" };
  const inner = { port: null };
  answers.expectChanges = () => (inner.port ??= openFrame(1));
  const { effect } = await fill(context({ selector: "#name" }));
  assert.equal(effect.value, "Ada");
  assert.deepEqual(
    asked.filter((type) => type.startsWith("fill")),
    ["fill", "fill 1"],
  );
  answers.has = () => false;
  await assert.rejects(fill(context({ selector: "#name" })), { reason: "element_not_found" });
  [main, inner.port].forEach((port) => port.close());
});

test("a request that the text starts is awaited before the page says what it holds", async () => {
  const main = openFrame();
  let isAnswered = false;
  answers.fill = () => {
    event("requestWillBeSent", { requestId: "r1", type: "Fetch" });
    setTimeout(() => {
      isAnswered = true;
      event("loadingFinished", { requestId: "r1" });
    }, 50);
    return { typed: true, sensitive: false };
  };
  answers.filled = () => ({ value: isAnswered ? "ADA" : "Ada" });
  answers.changes = () => ({ lines: isAnswered ? "+option" : "", whole: true });
  const { effect } = await fill(context({ selector: "#name" }));
  assert.equal(effect.value, "ADA");
  assert.deepEqual(effect.changes, { lines: "+option", whole: true });
  main.close();
});

test("notes are kept until nobody asks again", async () => {
  const main = openFrame();
  const bodies = [];
  answers.changes = (body) => (bodies.push(body.mayAskAgain), { lines: "", whole: true });
  answers.unwatch = (body) => void bodies.push(body);
  await fill(context({ selector: "#name" }));
  assert.deepEqual(bodies, [true, { isOver: true }]);
  answers.settle = () => {
    report("event", TAB, undefined, "Page.downloadWillBegin", { url: "https://a.example/f" });
    return { arrived: true, mutated: true, navigating: false, downloading: true };
  };
  bodies.length = 0;
  await fill(context({ selector: "#name" }));
  assert.deepEqual(bodies, [{ isOver: false }, false]);
  main.close();
  forgetTab(TAB);
});
