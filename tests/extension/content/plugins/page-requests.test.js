import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, mock, test } from "node:test";
import { runInThisContext } from "node:vm";

const EXTENSION = new URL("../../../../extension/content/", import.meta.url);
const ORDER = {
  url: "/notes",
  method: "GET",
  headers: {},
  allowed: ["https://a.example/*"],
  stream: true,
  mostBytes: 10,
};

async function load(name) {
  runInThisContext(await readFile(new URL(`${name}.js`, EXTENSION), "utf8"));
}

let requests;
let signals;
let body;
beforeEach(async () => {
  signals = [];
  body = "0123456789";
  globalThis.location = { href: "https://a.example/page" };
  globalThis.window = new EventTarget();
  globalThis.tabhub = {
    define: (_, make) => (requests = make()),
    fail: (reason, message) => {
      throw Object.assign(new Error(message), { reason });
    },
  };
  globalThis.fetch = async (request) => {
    signals.push(request.signal);
    const response = new Response(body);
    Object.defineProperty(response, "url", { value: request.url });
    return response;
  };
  await load("shared/match-patterns");
  await load("plugins/page-requests");
});

const reasonOf = (promise) => promise.then(assert.fail, ({ reason }) => reason);

test("a stream that nobody reads is closed after a minute", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  await requests.send({ ...ORDER, id: "a" });
  mock.timers.tick(59_000);
  assert.equal((await requests.read({ id: "a" })).bodyBase64, btoa(body));
  mock.timers.tick(59_000);
  assert.equal(signals[0].aborted, false);
  mock.timers.tick(2000);
  assert.equal(signals[0].aborted, true);
  assert.equal(await reasonOf(requests.read({ id: "a" })), "not_found");
  mock.timers.reset();
});

test("a page that goes away ends its requests and streams", async () => {
  await requests.send({ ...ORDER, id: "a" });
  globalThis.fetch = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const waiting = reasonOf(requests.send({ ...ORDER, id: "b", stream: false }));
  const forged = new Event("pagehide");
  window.dispatchEvent(forged);
  assert.equal(signals[0].aborted, false);
  const event = new Event("pagehide");
  Object.defineProperty(event, "isTrusted", { value: true });
  window.dispatchEvent(event);
  assert.equal(signals[0].aborted, true);
  assert.equal(await waiting, "navigated_away");
});

test("a request that is cancelled is ended", async () => {
  globalThis.fetch = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const waiting = reasonOf(requests.send({ ...ORDER, id: "a" }));
  requests.close({ id: "a" });
  assert.equal(await waiting, "cancelled");
});

test("a whole body has a limit, and what fails leaves nothing open", async () => {
  const whole = await requests.send({ ...ORDER, id: "a", stream: false });
  assert.equal(whole.bodyBase64, btoa(body));
  assert.equal(signals[0].aborted, true);
  body = "01234567890";
  const late = requests.send({ ...ORDER, id: "b", stream: false });
  assert.equal(await reasonOf(late), "too_large");
  assert.equal(signals[1].aborted, true);
});
