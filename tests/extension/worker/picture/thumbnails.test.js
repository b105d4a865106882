import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

/** @type {string[]} */
const sent = [];
let isOn = true;
globalThis.chrome = {
  runtime: { getManifest: () => ({ content_scripts: [{ js: [] }] }), getURL: String },
  storage: {
    session: { get: async () => ({}), set: async () => {} },
    local: { get: async () => ({ showThumbnails: isOn }) },
  },
  windows: { WINDOW_ID_NONE: -1 },
  tabs: {
    TAB_ID_NONE: -1,
    query: async () => [],
    get: async (id) => ({ id, url: "https://shop.example/" }),
  },
  debugger: {
    attach: async () => {},
    detach: async () => {},
    getTargets: async () => [],
    sendCommand: async ({ tabId }, method) => {
      sent.push(`${tabId} ${method}`);
      return { data: "AA==" };
    },
  },
};
globalThis.createImageBitmap = async () => ({ width: 1280, height: 800, close() {} });
globalThis.OffscreenCanvas = class {
  getContext() {
    return { drawImage() {} };
  }
  async convertToBlob() {
    return new Blob(["small"]);
  }
};
const { takeThumbnail } = await import("../../../../extension/worker/picture/thumbnails.js");
const { forgetTab, withTab } = await import("../../../../extension/worker/debugger/debugger.js");

const { passOn, restoreAll } = await import("../../../../extension/worker/shared/tab-state.js");
await restoreAll();

const settled = () => new Promise((resolve) => setImmediate(resolve));
const CAPTURE = "Page.captureScreenshot";
const captures = () => sent.filter((line) => line.endsWith(CAPTURE)).length;
let clock = 1_000_000;
mock.method(Date, "now", () => clock);

beforeEach(() => {
  sent.length = 0;
  clock += 60_000;
});

test("a tab that no agent has attached has no picture, and nothing is sent to it", async () => {
  assert.deepEqual(await takeThumbnail({ nativeId: 1 }), { image: null });
  assert.deepEqual(sent, []);
});

test("a tab that an agent has just used has a picture, at most one every two seconds", async () => {
  await withTab(7, async () => {});
  const { image } = await takeThumbnail({ nativeId: 7 });
  assert.equal(image, `data:image/jpeg;base64,${btoa("small")}`);
  clock += 1999;
  assert.equal((await takeThumbnail({ nativeId: 7 })).image, image);
  assert.equal(captures(), 1);
  clock += 1;
  await takeThumbnail({ nativeId: 7 });
  assert.equal(captures(), 2);
  forgetTab(7);
  assert.deepEqual(await takeThumbnail({ nativeId: 7 }), { image: null }, "not the last one");
});

test("a page that is left often is not drawn more often, and never shown for the next", async () => {
  await withTab(9, async () => {});
  assert.notEqual((await takeThumbnail({ nativeId: 9 })).image, null);
  for (let times = 0; times < 3; times++) {
    passOn("committed", 9, "https://shop.example/next");
    await settled();
    assert.deepEqual(await takeThumbnail({ nativeId: 9 }), { image: null });
  }
  assert.equal(captures(), 1);
  clock += 2000;
  assert.notEqual((await takeThumbnail({ nativeId: 9 })).image, null);
  forgetTab(9);
});

test("no picture is taken once the person has switched them off, whatever a panel asks", async () => {
  await withTab(10, async () => {});
  assert.notEqual((await takeThumbnail({ nativeId: 10 })).image, null);
  isOn = false;
  clock += 2000;
  assert.deepEqual(await takeThumbnail({ nativeId: 10 }), { image: null });
  isOn = true;
  assert.equal(captures(), 1);
  forgetTab(10);
});

test("a tab is left alone while a command uses it", async () => {
  await withTab(8, async () => {
    assert.deepEqual(await takeThumbnail({ nativeId: 8 }), { image: null });
  });
  assert.equal(captures(), 0);
  assert.notEqual((await takeThumbnail({ nativeId: 8 })).image, null);
  forgetTab(8);
});
