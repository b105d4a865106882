import assert from "node:assert/strict";
import { test } from "node:test";

import { patch } from "../../../extension/panel/dom.js";
import { applyMessage, START } from "../../../extension/panel/model.js";
import { calls } from "../../../extension/panel/now/calls.js";
import { installPage } from "./fake-page.js";

const callOf = (id, startedAt) => ({ id, title: id, tool: "t", session: "s", tabId: 1, startedAt });

function panel() {
  const place = installPage();
  const app = { model: START, server: null, now: 1000, paint: () => patch(place, calls(app)) };
  const tell = (method, params) => (app.model = applyMessage(app.model, method, params));
  const end = (id, at) =>
    tell("tool.invocationEnd", { ...callOf(id, at), outcome: "done", durationMs: 1, bytes: 1 });
  const list = () => place.children[0].children.find(({ tag }) => tag === "ol");
  const rows = () => list().children.map((row) => row.getAttribute("data-call"));
  return { app, tell, end, list, rows };
}

test("a call that runs stays in the list, however many have come after it", () => {
  const { app, tell, end, rows } = panel();
  tell("tool.invocationStart", callOf("slow", 1));
  for (let at = 2; at < 110; at++) end(`quick-${at}`, at);
  app.paint();
  assert.equal(rows().length, 61);
  assert.equal(rows().at(-1), "slow");
});

test("nothing moves under the pointer, and what runs there says that it has ended", () => {
  const { app, tell, end, list, rows } = panel();
  tell("tool.invocationStart", callOf("slow", 1));
  end("before", 2);
  app.paint();
  list().isConnected = true;
  list().fire("pointerenter");
  for (let at = 3; at < 200; at++) end(`later-${at}`, at);
  app.paint();
  assert.deepEqual(rows(), ["before", "slow"]);
  end("slow", 1);
  app.paint();
  assert.equal(list().children[1].getAttribute("data-outcome"), "done");
  list().isConnected = false;
  app.paint();
  assert.equal(rows().length, 60);
});
