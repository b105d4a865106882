import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  storage: { session: { set: async () => {} } },
};
const { authRequired, openLogin, forgetLogin, answerLogin } =
  await import("../../../../extension/worker/debugger/logins.js");
const { watchLoads } = await import("../../../../extension/worker/shared/tab-events.js");
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const asking = (tabId, more = {}) => {
  const answers = [];
  const details = {
    tabId,
    url: "https://a.example/x",
    scheme: "basic",
    type: "main_frame",
    ...more,
  };
  authRequired(details, (answer) => answers.push(answer));
  return answers;
};

test("without a running call, and for proxies, the browser asks the person", () => {
  assert.deepEqual(asking(1), [undefined]);
  assert.deepEqual(asking(-1), [undefined]);
  const stop = watchLoads(2, () => {});
  assert.deepEqual(asking(2, { isProxy: true }), [undefined]);
  stop();
});

test("one login prompt at a time: that of the page comes before those of its parts", () => {
  const stop = watchLoads(3, () => {});
  const image = asking(3, { type: "image" });
  assert.deepEqual(asking(3, { type: "image" }), [{ cancel: true }]);
  const page = asking(3, { realm: "r" });
  assert.deepEqual([image, page], [[{ cancel: true }], []]);
  assert.equal(openLogin(3)?.dialog.realm, "r");
  answerLogin(3, { username: "u", password: "p" });
  assert.deepEqual(page, [{ authCredentials: { username: "u", password: "p" } }]);
  const gone = asking(3);
  forgetLogin(3);
  assert.deepEqual([gone, openLogin(3)], [[{ cancel: true }], undefined]);
  stop();
});

test("a page's login prompt survives the previous page, that of a part does not", () => {
  const stop = watchLoads(4, () => {});
  const page = asking(4);
  report("committed", 4, "https://shop.example/");
  assert.deepEqual([page, openLogin(4)?.holdsPage], [[], true]);
  report("navigating", 4, "https://shop.example/");
  assert.deepEqual([page, openLogin(4)], [[{ cancel: true }], undefined]);
  const image = asking(4, { type: "image" });
  report("navigating", 4, "https://shop.example/");
  assert.deepEqual(image, []);
  report("committed", 4, "https://shop.example/");
  assert.deepEqual(image, [{ cancel: true }]);
  stop();
});
