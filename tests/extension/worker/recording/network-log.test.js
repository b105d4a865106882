import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {
  windows: { WINDOW_ID_NONE: -1 },
  tabs: { TAB_ID_NONE: -1 },
};
const { NetworkLog } = await import("../../../../extension/worker/recording/network-log.js");

const URL = "https://shop.example/";
const sent = (requestId, url, more = {}) => ({
  requestId,
  request: { url, method: "GET", headers: { Accept: "*/*" } },
  documentURL: URL,
  wallTime: 1000,
  timestamp: 10,
  type: "Document",
  ...more,
});
const response = (status, more = {}) => ({
  status,
  headers: { A: "1" },
  mimeType: "text/html",
  ...more,
});

function log(events, most = 10, filter) {
  const found = new NetworkLog(most, filter);
  for (const [method, params] of events) found.event(undefined, `Network.${method}`, params);
  return found;
}

test("a request has its response, size and duration", () => {
  const { entries } = log([
    ["requestWillBeSent", sent("1", URL)],
    ["responseReceived", { requestId: "1", response: response(200), type: "Document" }],
    ["dataReceived", { requestId: "1", dataLength: 7 }],
    ["loadingFinished", { requestId: "1", timestamp: 10.5, encodedDataLength: 99 }],
  ]);
  const { status, size, bodySize, duration, started, site } = entries[0];
  const summary = { status, size, bodySize, duration, started, site };
  assert.deepEqual(summary, {
    ...{ status: 200, size: 99, bodySize: 7, duration: 500, started: 1_000_000 },
    site: "shop.example",
  });
});

test("each step of a redirect has its own headers, even if they arrive late", () => {
  const { entries } = log([
    ["requestWillBeSentExtraInfo", { requestId: "1", headers: { Cookie: "first" } }],
    ["requestWillBeSent", sent("1", `${URL}a`)],
    [
      "requestWillBeSent",
      sent("1", `${URL}b`, {
        redirectResponse: response(302),
        redirectHasExtraInfo: true,
        timestamp: 11,
      }),
    ],
    ["responseReceivedExtraInfo", { requestId: "1", headers: { Location: "b" } }],
    ["requestWillBeSentExtraInfo", { requestId: "1", headers: { Cookie: "second" } }],
    ["responseReceived", { requestId: "1", response: response(200), hasExtraInfo: true }],
    ["responseReceivedExtraInfo", { requestId: "1", headers: { B: "2" } }],
  ]);
  assert.deepEqual(
    entries.map(({ url, status, requestHeaders, responseHeaders }) => [
      url,
      status,
      requestHeaders,
      responseHeaders,
    ]),
    [
      [`${URL}a`, 302, [["Cookie", "first"]], [["Location", "b"]]],
      [`${URL}b`, 200, [["Cookie", "second"]], [["B", "2"]]],
    ],
  );
  assert.equal(entries[0].redirectedTo, `${URL}b`);
  assert.equal(entries[0].duration, 1000);
});

test("a step that was answered from the cache takes no headers of the next", () => {
  const { entries } = log([
    ["requestWillBeSent", sent("1", `${URL}a`)],
    [
      "requestWillBeSent",
      sent("1", `${URL}b`, { redirectResponse: response(301), redirectHasExtraInfo: false }),
    ],
    ["requestWillBeSentExtraInfo", { requestId: "1", headers: { Cookie: "second" } }],
  ]);
  assert.deepEqual(
    entries.map(({ requestHeaders }) => requestHeaders),
    [[["Accept", "*/*"]], [["Cookie", "second"]]],
  );
});

test("a failed request has its error", () => {
  const { entries } = log([
    ["requestWillBeSent", sent("1", URL)],
    [
      "loadingFailed",
      { requestId: "1", timestamp: 11, errorText: "net::ERR_FAILED", blockedReason: "csp" },
    ],
  ]);
  assert.equal(entries[0].failed, "net::ERR_FAILED (csp)");
});

test("a dropped request is not found, and its later events are ignored", () => {
  const found = log(
    [
      ["requestWillBeSent", sent("1", `${URL}a`)],
      ["requestWillBeSent", sent("2", `${URL}b`)],
      ["responseReceived", { requestId: "1", response: response(200) }],
    ],
    1,
  );
  assert.deepEqual(
    found.entries.map(({ url }) => url),
    [`${URL}b`],
  );
  assert.equal(found.dropped, 1);
  assert.equal(found.find("1"), undefined);
});

test("a filter leaves out other requests with all their events", () => {
  const found = log(
    [
      ["requestWillBeSent", sent("1", `${URL}a`)],
      ["requestWillBeSent", sent("2", `${URL}api`)],
      ["requestWillBeSentExtraInfo", { requestId: "1", headers: {} }],
      ["responseReceived", { requestId: "1", response: response(200) }],
    ],
    10,
    "api",
  );
  assert.deepEqual(
    found.entries.map(({ url }) => url),
    [`${URL}api`],
  );
});
