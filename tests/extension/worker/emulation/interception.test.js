import assert from "node:assert/strict";
import { mock, test } from "node:test";

// A request that waits would keep this process alive.
mock.timers.enable({ apis: ["setTimeout"] });
const sent = [];
globalThis.chrome = {
  storage: { session: { get: async () => ({}), set: async () => {} } },
  debugger: {
    attach: async () => {},
    detach: async () => {},
    sendCommand: async (_, method, params) => (sent.push([method, params?.requestId]), {}),
  },
  tabs: { get: async (id) => ({ id, url: "https://a.example/" }) },
};
const { startIntercepting, stopIntercepting, waitingIn } = await import(
  "../../../../extension/worker/emulation/interception.js"
);
const { report } = await import("../../../../extension/worker/shared/tab-state.js");

const paused = (requestId, url) => {
  const request = { url, method: "GET", headers: {} };
  const params = { requestId, request, resourceType: "Script" };
  report("event", 1, undefined, "Fetch.requestPaused", params);
};

test("requests of a page are held, and those of an extension's page never", async () => {
  const { signal } = new AbortController();
  const reach = { among: async () => null };
  await startIntercepting({ tabId: 1, input: { urlPatterns: ["*"] }, signal, reach });
  paused("one", "https://a.example/a.js");
  paused("two", "chrome-extension://abc/options/options.js");
  assert.deepEqual(
    waitingIn(1).map(({ url }) => url),
    ["https://a.example/a.js"],
  );
  assert.deepEqual(
    sent.filter(([method]) => method === "Fetch.continueRequest"),
    [["Fetch.continueRequest", "two"]],
  );
  await stopIntercepting({ tabId: 1 });
  report("forget", 1);
});
