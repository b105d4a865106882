import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BY_ITSELF,
  PausedRequests,
  TOO_MANY,
  answerOf,
  holdsUpLoading,
  originsIn,
} from "../../../../extension/worker/emulation/paused-requests.js";

const request = (url) => ({
  fetchId: `job-${url}`,
  url,
  method: "GET",
  resourceType: "XHR",
  headers: {},
  since: 0,
});

test("requests wait in order until they end, and their endings are recorded", () => {
  const book = new PausedRequests();
  const [first, second] = [book.add(request("a")), book.add(request("b"))];
  assert.deepEqual([first.requestId, second.requestId], ["req_1", "req_2"]);
  assert.equal(book.end("req_1", BY_ITSELF), true);
  assert.equal(book.end("req_1", "again"), false);
  assert.deepEqual(book.waiting, [second]);
  assert.deepEqual(book.overdue, [{ requestId: "req_1", url: "a", how: BY_ITSELF }]);
  assert.throws(() => book.require("req_1"), /by itself after 30 seconds already/);
  assert.throws(() => book.require("req_7"), { reason: "not_found" });
});

test("at most five hundred requests wait, and others are listed as passed", () => {
  const book = new PausedRequests();
  for (let i = 0; i < 499; i++) book.add(request("a"));
  assert.equal(book.isFull, false);
  book.add(request("a"));
  assert.equal(book.isFull, true);
  book.end(book.add(request("b")).requestId, TOO_MANY);
  assert.deepEqual(book.overdue, [{ requestId: "req_501", url: "b", how: TOO_MANY }]);
});

test("request ids continue after a restart", () => {
  const book = new PausedRequests();
  book.add(request("a"));
  const again = new PausedRequests(JSON.parse(JSON.stringify(book.dump())));
  assert.equal(again.require("req_1").fetchId, "job-a");
  assert.equal(again.add(request("b")).requestId, "req_2");
});

test("at most fifty endings are remembered", () => {
  const book = new PausedRequests();
  for (let i = 0; i < 60; i++) book.end(book.add(request("a")).requestId, BY_ITSELF);
  assert.equal(book.overdue.length, 50);
});

test("a page load waits for its parts, not for fetches of scripts", () => {
  assert.deepEqual(["Document", "Script", "XHR", "Fetch"].map(holdsUpLoading), [
    true,
    true,
    false,
    false,
  ]);
});

test("only patterns without wildcards in the origin name origins", () => {
  const patterns = ["https://a.example/*", "*://b.example/*", "http://*.c.example/", "*"];
  assert.deepEqual(originsIn(patterns), ["https://a.example"]);
});

test("unchanged members are left out", () => {
  assert.deepEqual(answerOf({ how: "continue" }).params, {});
  assert.deepEqual(answerOf({ how: "continue", url: "u", headers: { a: "b" } }).params, {
    url: "u",
    headers: [{ name: "a", value: "b" }],
  });
});
