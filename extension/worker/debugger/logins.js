/**
 * HTTP authentication in tabs that agents work in: instead of the browser's own window there is a
 * pending dialog, which page.dialog answers. In all other tabs the browser asks the person.
 */

import { isTaken } from "./debugger.js";
import { isWatched, loginAsked } from "../shared/tab-events.js";
import { register } from "../shared/tab-state.js";
import { clip, TITLE_LENGTH } from "../shared/clip.js";

/** @typedef {import("./page-dialogs.js").Dialog} Dialog */
/** @typedef {(answer?: chrome.webRequest.BlockingResponse) => void} Reply */
/** @typedef {{dialog: Dialog, url: string, holdsPage: boolean, reply: Reply}} Login */

/** @type {Map<number, Login>} */
const open = new Map();

/**
 * @param {chrome.webRequest.OnAuthRequiredDetails} details
 * @param {Reply} [reply]
 */
export function authRequired(details, reply = () => {}) {
  const { tabId, isProxy, url } = details;
  // A proxy's login is always for the person.
  if (isProxy || tabId < 0 || !(isTaken(tabId) || isWatched(tabId))) return reply();
  // One at a time: further ones in the same page are dismissed.
  if (open.has(tabId) && details.type !== "main_frame") return reply({ cancel: true });
  open.get(tabId)?.reply({ cancel: true });
  const dialog = describe(details);
  open.set(tabId, { dialog, url, holdsPage: details.type === "main_frame", reply });
  loginAsked(tabId, dialog);
}

/**
 * @param {chrome.webRequest.OnAuthRequiredDetails} details
 * @returns {Dialog}
 */
function describe({ url, realm, scheme }) {
  const { origin } = new URL(url);
  const message = `${origin} asks for a user name and a password`;
  const about = realm && clip(realm, TITLE_LENGTH);
  return { type: "http_auth", message, origin, scheme, ...(about && { realm: about }) };
}

export function loginTabs() {
  return [...open.keys()];
}

/** @param {number} tabId */
export function openLogin(tabId) {
  return open.get(tabId);
}

/**
 * @param {number} tabId
 * @param {{username: string, password: string} | null} authCredentials null: dismissed
 */
export function answerLogin(tabId, authCredentials) {
  const login = open.get(tabId);
  open.delete(tabId);
  login?.reply(authCredentials ? { authCredentials } : { cancel: true });
}

/**
 * The tab is gone, or no call waits for its page.
 * @param {number} tabId
 */
export function forgetLogin(tabId) {
  if (open.has(tabId)) answerLogin(tabId, null);
}

/**
 * The tab gives up the page that it was loading.
 * @param {number} tabId
 */
function navigationBegins(tabId) {
  if (open.get(tabId)?.holdsPage) forgetLogin(tabId);
}

/**
 * The page that asked is gone, unless it is still loading: a tab's first, blank page may be
 * reported after its login.
 * @param {number} tabId
 */
function pageShown(tabId) {
  if (!open.get(tabId)?.holdsPage) forgetLogin(tabId);
}

/** @param {number} tabId */
async function release(tabId) {
  // The browser asks the person in its own window.
  open.get(tabId)?.reply();
  open.delete(tabId);
}

register({
  name: "logins",
  forget: forgetLogin,
  navigating: navigationBegins,
  committed: pageShown,
  released: release,
});
