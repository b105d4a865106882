import assert from "node:assert/strict";
import { test } from "node:test";

import { TabReporter } from "../../../../extension/worker/link/tab-reporter.js";

class Line {
  said = [];
  closed = false;
  fits = true;
  notify(method, params) {
    if (this.fits) this.said.push(params);
    return this.fits;
  }
  report(method, item) {
    this.said.push(item);
  }
  close() {
    this.closed = true;
  }
}

test("what happens while the tabs are listed is told after them", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const herald = new TabReporter(() => promise);
  const line = new Line();
  const opened = herald.opened(line);
  herald.report("during");
  resolve("tabs");
  await opened;
  herald.report("after");
  assert.deepEqual(line.said, ["tabs", "during", "after"]);
});

test("a list that fails holds nothing back, and the line is tried anew", async () => {
  const herald = new TabReporter(() => Promise.reject(new Error("no tabs")));
  const line = new Line();
  await herald.opened(line);
  assert.equal(line.closed, true);
  herald.report("later");
  assert.deepEqual(line.said, ["later"]);
});

test("two lines at once do not disturb each other", async () => {
  const lists = [Promise.withResolvers(), Promise.withResolvers()];
  let next = 0;
  const herald = new TabReporter(() => lists[next++].promise);
  const [first, second] = [new Line(), new Line()];
  const both = [herald.opened(first), herald.opened(second)];
  herald.report("news");
  lists[0].resolve("old");
  lists[1].resolve("new");
  await Promise.all(both);
  assert.deepEqual(first.said, ["old"]);
  assert.deepEqual(second.said, ["new", "news"]);
});

test("tabs that do not fit into a message are told briefly", async () => {
  const line = new Line();
  line.fits = false;
  const asked = [];
  await new TabReporter(async (brief) => asked.push(brief)).opened(line);
  assert.deepEqual(asked, [undefined, true]);
});

test("what the introduction tells as well is not told before it", async () => {
  const { promise, resolve } = Promise.withResolvers();
  const herald = new TabReporter(() => promise);
  const line = new Line();
  herald.notify("panel.changed", "too early");
  const opened = herald.opened(line);
  herald.notify("panel.changed", "during");
  resolve("tabs");
  await opened;
  herald.notify("panel.changed", "after");
  assert.deepEqual(line.said, ["tabs", "after"]);
});
