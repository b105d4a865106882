/** No connection to the server: what is wrong, and what to do. */

import { copyLine } from "../copy.js";
import { el, strange } from "../dom.js";
import { serverForm } from "../forms/server-form.js";
import { stepList } from "../now/first-run.js";
import { icon } from "../icons.js";

const EVERY_MS = 2000;

/** @type {Diagnosis | null} */
let found = null;
let askedAt = 0;

/** @param {App} app */
export function noConnection(app) {
  void look(app);
  const { problem } = app.model;
  const why = found?.why || problem;
  return [
    el("h2", {}, icon("warning"), " No connection to the server"),
    el("p", { id: "why", role: "status" }, strange(why)),
    found?.command && copyLine(found.command),
    found?.source && el("p", { class: "quiet" }, strange(found.source)),
    stepList(app.model),
    !found?.isPackaged &&
      el(
        "details",
        { open: found !== null && !found.isKnown, class: "card" },
        el("summary", {}, "Pair with the server"),
        serverForm(() => (askedAt = 0), app.paint),
      ),
  ];
}

/** @param {App} app */
async function look(app) {
  if (Date.now() - askedAt < EVERY_MS) return;
  askedAt = Date.now();
  const result = await app.askQuietly("diagnosis.get", {});
  if (!result || JSON.stringify(result) === JSON.stringify(found)) return;
  found = result;
  app.paint();
}
