import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { patch } from "../../../extension/panel/dom.js";
import { installPage } from "./fake-page.js";

globalThis.chrome = { storage: { local: { get: async () => ({}), set: async () => {} } } };
const { strip, wantThumbnails } = await import("../../../extension/panel/now/tab-strip.js");

const serverAt = (url) => ({
  browser: "b",
  agents: [{ session: "s", name: "Helper", color: "purple", current: 1 }],
  tabs: [{ tabId: 1, nativeId: 10, browser: "b", title: url, url }],
});
const settled = () => new Promise(setImmediate);

function pictureIn(place) {
  const all = [place];
  for (const one of all) all.push(...(one.children ?? []));
  return all.find(({ tag }) => tag === "img")?.getAttribute("src");
}

test("a picture is shown only under the address of the page that it was taken of", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const place = installPage();
  document.visibilityState = "visible";
  let answer = { image: "data:image/jpeg;base64,AAAA" };
  const app = {
    view: "now",
    server: serverAt("https://a.example/"),
    askQuietly: async () => answer,
    paint: () => patch(place, strip(app)),
  };
  wantThumbnails(app);
  mock.timers.tick(0);
  await settled();
  assert.equal(pictureIn(place), answer.image);

  app.server = serverAt("https://b.example/");
  app.paint();
  assert.equal(pictureIn(place), undefined);

  // The tab goes on while its picture is taken.
  answer = { image: "data:image/jpeg;base64,BBBB" };
  app.askQuietly = async () => {
    app.server = serverAt("https://c.example/");
    return answer;
  };
  mock.timers.tick(2000);
  await settled();
  assert.equal(pictureIn(place), undefined);
  app.server = serverAt("https://b.example/");
  app.paint();
  assert.equal(pictureIn(place), undefined);

  // A busy tab has no new picture, and keeps the one of its page.
  app.askQuietly = async () => answer;
  mock.timers.tick(2000);
  await settled();
  assert.equal(pictureIn(place), "data:image/jpeg;base64,BBBB");
  answer = { image: null };
  mock.timers.tick(2000);
  await settled();
  assert.equal(pictureIn(place), "data:image/jpeg;base64,BBBB");
  mock.timers.reset();
});
