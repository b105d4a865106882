/**
 * A strip with a small picture of the tab that each agent uses, so that one look says what each is
 * doing. Pictures are taken only while the panel can be seen, and not more often than the worker
 * allows.
 */

import { el, strange } from "../dom.js";
import { icon } from "../icons.js";

const EVERY_MS = 2000;
const SETTING = "showThumbnails";
const PICTURE = /^data:image\/(png|jpeg|webp);base64,/;

/** @typedef {{url: string, image: string}} Picture */

/** @type {Map<number, Picture>} the last picture of each tab, by the browser's number */
const pictures = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let isOn = true;

void readSetting();

/** Another panel has the same switch. */
async function readSetting() {
  isOn = (await chrome.storage.local.get(SETTING))[SETTING] !== false;
  if (!isOn) pictures.clear();
}

export const thumbnailsAreOn = () => isOn;

/** @param {boolean} wanted */
export async function setThumbnails(wanted) {
  isOn = wanted;
  pictures.clear();
  await chrome.storage.local.set({ [SETTING]: wanted });
}

/** @typedef {{agent: Panel.AgentShown, tab: Panel.TabShown | undefined}} Shown */

/**
 * @param {Panel.State} server
 * @returns {Shown[]} the agents that have used a tab, with that tab
 */
function shownBy(server) {
  const byId = new Map(server.tabs.map((tab) => [tab.tabId, tab]));
  return server.agents.flatMap((agent) =>
    agent.current === null ? [] : [{ agent, tab: byId.get(agent.current) }],
  );
}

/** @param {App} app */
export function strip(app) {
  const server = /** @type {Panel.State} */ (app.server);
  const shown = shownBy(server);
  if (!shown.length) return null;
  return el(
    "ul",
    { id: "strip", tabindex: "0", "aria-label": "What each agent looks at" },
    shown.map((one) => tile(one, server.browser)),
  );
}

/**
 * @param {Shown} shown
 * @param {string} browser
 */
function tile({ agent, tab }, browser) {
  const image = isOn && tab?.browser === browser ? pictureOf(tab) : undefined;
  const title = tab?.title || tab?.url || "A tab that is gone";
  return el(
    "li",
    { key: agent.session, class: "tile", "data-color": agent.color },
    el(
      "span",
      { class: "picture" },
      image ? el("img", { src: image, alt: "", width: 128, height: 80 }) : icon("page"),
    ),
    el("span", { class: "cut block" }, strange(title, { most: 100 })),
    el("span", { class: "cut block quiet" }, strange(agent.name, { most: 60 })),
  );
}

/**
 * @param {Panel.TabShown} tab
 * @returns {string | undefined} never the picture of the page before
 */
function pictureOf({ nativeId, url }) {
  const last = pictures.get(nativeId);
  return last?.url === url ? last.image : undefined;
}

/**
 * Begins to take pictures, until Now is no longer shown.
 * @param {App} app
 */
export function wantThumbnails(app) {
  timer ??= setTimeout(() => void take(app), 0);
}

/** @param {App} app */
async function take(app) {
  const { server } = app;
  const isShown = app.view === "now" || app.isWide;
  if (!server || !isShown) {
    timer = undefined;
    return;
  }
  await readSetting();
  if (isOn && document.visibilityState === "visible") await takeAll(server, app);
  timer = setTimeout(() => void take(app), EVERY_MS);
}

/**
 * @param {Panel.State} server
 * @returns {Map<number, string>} the addresses of the tabs that agents use here
 */
function addressesOf(server) {
  const tabs = shownBy(server).flatMap(({ tab }) => (tab?.browser === server.browser ? tab : []));
  return new Map(tabs.map(({ nativeId, url }) => [nativeId, url]));
}

/**
 * @param {Panel.State} server
 * @param {App} app
 */
async function takeAll(server, app) {
  const asked = addressesOf(server);
  for (const id of pictures.keys()) if (!asked.has(id)) pictures.delete(id);
  await Promise.all(
    [...asked].map(async ([nativeId, url]) => {
      const image = (await app.askQuietly("thumbnail.take", { nativeId }))?.image;
      const isSamePage = app.server && addressesOf(app.server).get(nativeId) === url;
      // An earlier picture stays: the tab may only be busy.
      if (image && PICTURE.test(image) && isSamePage) pictures.set(nativeId, { url, image });
    }),
  );
  if (asked.size) app.paint();
}
