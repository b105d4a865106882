import assert from "node:assert/strict";
import { test } from "node:test";

import { patch } from "../../../extension/panel/dom.js";
import { audit } from "../../../extension/panel/views/audit.js";
import { installPage } from "./fake-page.js";

const ROW = {
  id: "1-2",
  time: 0,
  who: "gone (Robot)",
  client: "gone",
  tool: "browser_click_element",
  title: "Click",
  words: "Click on shop.example",
  site: "shop.example",
  outcome: "done",
  reason: null,
  durationMs: 5,
  bytes: 10,
};

/** Every element below a place. */
function all(place) {
  return place.children.flatMap((child) => [child, ...all(child)]);
}

async function opened(answers) {
  const place = installPage();
  const app = {
    now: 0,
    server: { agents: [{ client: "main" }] },
    ask: async (method) => answers[method],
    askQuietly: async (method) => answers[method],
    paint: () => patch(place, audit.render(app)),
  };
  audit.opened(app);
  await new Promise(setImmediate);
  return place;
}

test("every client can be chosen: who is here, who has a token, and who is in the log", async () => {
  const place = await opened({
    "audit.list": { rows: [ROW, { ...ROW, id: "1-3", who: "you", client: "" }], next: null },
    "clients.list": { clients: [{ name: "main" }, { name: "robot" }], connect: [] },
  });
  const clients = all(place).find((one) => one.getAttribute("data-filter") === "client");
  const names = clients.children.map((option) => option.textContent);
  assert.deepEqual(names, ["every client", "gone", "main", "robot"]);
});

test("a no of the person does not look like a success", async () => {
  const denied = { ...ROW, who: "you", client: "", words: "you denied “Click”", denied: true };
  const refused = { ...ROW, id: "1-3", outcome: "refused", reason: "permission_denied" };
  const rows = [denied, { ...refused, denied: true }, { ...refused, id: "1-4", denied: false }];
  const place = await opened({ "audit.list": { rows, next: null } });
  const shown = all(place).filter((one) => one.getAttribute("data-row"));
  const icons = shown.map((row) => all(row).find(({ tag }) => tag === "svg").getAttribute("class"));
  assert.deepEqual(icons, Array(3).fill("icon icon-refused"));
  assert.match(shown[0].textContent, /You denied “Click”/);
  assert.match(shown[1].textContent, /Denied by you/);
  assert.match(shown[2].textContent, /Not allowed/);
});

test("an older server lists no clients, and the site of a row stands in it once", async () => {
  const place = await opened({ "audit.list": { rows: [ROW], next: null } });
  const row = all(place).find((one) => one.getAttribute("data-row") === "1-2");
  assert.equal(row.textContent.split("shop.example").length, 2);
});
