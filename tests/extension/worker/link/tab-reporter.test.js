import assert from "node:assert/strict";
import { test } from "node:test";

import { TabReporter } from "../../../../extension/worker/link/tab-reporter.js";

class Line {
  sent = [];
  closed = false;
  fits = true;
  notify(method, params) {
    if (this.fits) this.sent.push(params);
    return this.fits;
  }
  report(method, item) {
    this.sent.push(item);
  }
  close() {
    this.closed = true;
  }
}

test("changes during the listing of tabs are reported after the list", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const reporter = new TabReporter(() => promise);
  const line = new Line();
  const opened = reporter.opened(line);
  reporter.report("during");
  resolve("tabs");
  await opened;
  reporter.report("after");
  assert.deepEqual(line.sent, ["tabs", "during", "after"]);
});

test("a failed list blocks no report, and the connection is reopened", async () => {
  const reporter = new TabReporter(() => Promise.reject(new Error("no tabs")));
  const line = new Line();
  await reporter.opened(line);
  assert.equal(line.closed, true);
  reporter.report("later");
  assert.deepEqual(line.sent, ["later"]);
});

test("two connections at once do not disturb each other", async () => {
  const lists = [Promise.withResolvers(), Promise.withResolvers()];
  let next = 0;
  const reporter = new TabReporter(() => lists[next++].promise);
  const [first, second] = [new Line(), new Line()];
  const both = [reporter.opened(first), reporter.opened(second)];
  reporter.report("news");
  lists[0].resolve("old");
  lists[1].resolve("new");
  await Promise.all(both);
  assert.deepEqual(first.sent, ["old"]);
  assert.deepEqual(second.sent, ["new", "news"]);
});

test("tabs that do not fit into a message are reported in short form", async () => {
  const line = new Line();
  line.fits = false;
  const asked = [];
  await new TabReporter(async (brief) => asked.push(brief)).opened(line);
  assert.deepEqual(asked, [undefined, true]);
});

test("a notification that the first message includes is not sent before it", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const reporter = new TabReporter(() => promise);
  const line = new Line();
  reporter.notify("panel.changed", "too early");
  const opened = reporter.opened(line);
  reporter.notify("panel.changed", "during");
  resolve("tabs");
  await opened;
  reporter.notify("panel.changed", "after");
  assert.deepEqual(line.sent, ["tabs", "after"]);
});

test("a notification that the first message does not include waits for it", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const reporter = new TabReporter(() => promise);
  const line = new Line();
  const opened = reporter.opened(line);
  reporter.tell("plugin.readiness", "during");
  resolve("tabs");
  await opened;
  reporter.tell("plugin.readiness", "after");
  assert.deepEqual(line.sent, ["tabs", "during", "after"]);
});
