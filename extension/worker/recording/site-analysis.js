/**
 * site.analyze: what a site is made of, for whoever writes a plugin for it. It reads what the page
 * and the browser know without the debugger, and the tab's recording if there is one.
 */

import { readable } from "../frames/frame-origins.js";
import { TITLE_LENGTH, URL_LENGTH, clip } from "../shared/clip.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { siteOf } from "../shared/known-tabs.js";
import { within } from "../shared/timing.js";
import { recordingOf } from "./recorder.js";
import { describeGlobals, describePage } from "./site-marks.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {Wire.SiteRequest} SiteRequest */

const ANSWER_MS = 5000;
const NAME_LENGTH = 200;
const MOST_NAMES = 100;
const MOST_REQUESTS = 300;
const MOST_MEMBERS = 30;
/** What we put into pages for plugins and their scripts. */
const OURS = ["__tabhub", "__openTabs"];
const SCRIPTED = new Set(["fetch", "xhr", "xmlhttprequest", "eventsource", "beacon"]);
const CREDENTIAL = /^authorization$|token|csrf|xsrf|api-?key|x-auth/i;
const OPERATION = /\b(?:query|mutation|subscription)\s+([A-Za-z_]\w*)/;

/** @param {Context} context */
export async function analyzeSite(context) {
  const { tabId } = context;
  const [page, own, cookies] = await Promise.all([
    inPage(tabId, "ISOLATED", describePage),
    inPage(tabId, "MAIN", describeGlobals),
    cookiesOf(tabId),
  ]);
  const usual = new Set([...list(page.usual), ...OURS]);
  const added = list(own.names).filter((name) => !usual.has(name) && !/^\d+$/.test(name));
  return {
    url: clip(page.url, URL_LENGTH),
    title: clip(page.title, TITLE_LENGTH),
    cookies,
    csrf: named(page.csrf),
    requests: await requestsOf(context, page),
    recorded: recordingOf(tabId) !== undefined,
    frameworks: list(own.frameworks).slice(0, MOST_NAMES).map(frameworkOf),
    globals: named(added),
    globalsTotal: added.length,
    localStorage: named(page.localStorage),
    sessionStorage: named(page.sessionStorage),
    databases: named(page.databases),
    forms: page.forms.map(formOf),
  };
}

/**
 * @template T
 * @param {number} tabId
 * @param {"ISOLATED" | "MAIN"} world
 * @param {() => T} func
 * @returns {Promise<Awaited<T>>}
 */
async function inPage(tabId, world, func) {
  const script = { target: { tabId }, world, func, injectImmediately: true };
  try {
    const [answer] = await within(ANSWER_MS, chrome.scripting.executeScript(script));
    return /** @type {any} */ (answer?.result ?? {});
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError("csp_blocked", `The page cannot be looked at: ${messageOf(error)}`);
  }
}

/** @param {number} tabId */
async function cookiesOf(tabId) {
  const stores = await chrome.cookies.getAllCookieStores();
  const storeId = stores.find(({ tabIds }) => tabIds.includes(tabId))?.id;
  const { url } = await chrome.tabs.get(tabId);
  const found = url && storeId ? await chrome.cookies.getAll({ url, storeId }) : [];
  return found.slice(0, MOST_NAMES).map(({ name, httpOnly, secure }) => {
    return { name: clip(name, NAME_LENGTH), httpOnly, secure };
  });
}

// Requests.

/**
 * Those of the recording, and those that only the page's timing data has.
 * @param {Context} context
 * @param {{url: string, requests: {url: string, type: string}[]}} page
 */
async function requestsOf(context, { url: page, requests: timed }) {
  const site = siteOf(page);
  const recorded = recordingOf(context.tabId)?.network.entries ?? [];
  const own = recorded.filter((entry) => entry.site === site && isScripted(entry));
  const known = new Set(own.map(({ url }) => url));
  const earlier = timed.filter((entry) => isScripted(entry) && !known.has(entry.url));
  const all = [
    ...earlier.map(({ url, type }) => ({ url, type, method: "", site, page })),
    ...own.filter(({ fromTiming }) => !fromTiming),
    ...own.filter(({ fromTiming }) => fromTiming),
  ];
  const allowed = await readable(context, all.slice(-MOST_REQUESTS));
  return allowed.filter(({ url }) => URL.canParse(url)).map(requestOf);
}

/** @param {{type: string, url: string}} request */
function isScripted({ type, url }) {
  return SCRIPTED.has(type) && /^https?:/.test(url);
}

/**
 * @param {any} request of the recording, or of the timing data
 * @returns {SiteRequest}
 */
function requestOf({ url, method, type, mimeType, postData, requestHeaders = [] }) {
  const { searchParams } = new URL(url);
  const members = membersOf(postData ?? "");
  const operation = operationOf(members);
  return {
    url: withoutQuery(url),
    method,
    type,
    ...(mimeType !== undefined && { mimeType: clip(mimeType, NAME_LENGTH) }),
    parameters: names([...searchParams.keys()]),
    members: names(Object.keys(members)),
    ...(operation !== undefined && { operation }),
    credentials: names(requestHeaders.flatMap(credentialOf)),
  };
}

/** @param {string} url */
function withoutQuery(url) {
  const { origin, pathname } = new URL(url);
  return clip(origin + pathname, URL_LENGTH);
}

/**
 * @param {string} body
 * @returns {Record<string, unknown>}
 */
function membersOf(body) {
  try {
    const value = JSON.parse(body);
    const first = Array.isArray(value) ? value[0] : value;
    return typeof first === "object" && first !== null ? first : {};
  } catch {
    return /^[\w.[\]%-]+=/.test(body) ? Object.fromEntries(new URLSearchParams(body)) : {};
  }
}

/**
 * @param {Record<string, unknown>} members
 * @returns {string | undefined} undefined if it is no request of GraphQL
 */
function operationOf({ query, operationName, extensions }) {
  const isPersisted = typeof extensions === "object" && operationName !== undefined;
  const isQuery = typeof query === "string" && /[{]/.test(query);
  if (!isQuery && !isPersisted) return undefined;
  const name = typeof operationName === "string" ? operationName : "";
  return clip(name || OPERATION.exec(String(query))?.[1] || "", NAME_LENGTH);
}

/**
 * @param {[string, string]} header
 * @returns {string[]} its name, and of `Authorization` the scheme; never its value
 */
function credentialOf([name, value]) {
  if (!CREDENTIAL.test(name)) return [];
  const scheme = /^authorization$/i.test(name) && /^([A-Za-z][\w-]{0,19}) /.exec(value)?.[1];
  return [scheme ? `${name}: ${scheme}` : name];
}

// What comes from the page is cut: the page can make all of it up.

/** @param {string[]} given */
function names(given) {
  return named([...new Set(given)]).slice(0, MOST_MEMBERS);
}

/** @param {unknown} given */
function named(given) {
  return list(given)
    .slice(0, MOST_NAMES)
    .map((name) => clip(String(name), NAME_LENGTH));
}

/**
 * @param {unknown} given
 * @returns {any[]}
 */
function list(given) {
  return Array.isArray(given) ? given : [];
}

/** @param {any} framework */
function frameworkOf({ name, version }) {
  return { name: clip(String(name), NAME_LENGTH), version: clip(String(version), NAME_LENGTH) };
}

/** @param {Wire.SiteForm} form */
function formOf({ action, method, name, fields }) {
  return {
    action: /^https?:/.test(action) ? withoutQuery(action) : "",
    method: clip(method, NAME_LENGTH),
    name: clip(name, NAME_LENGTH),
    fields: fields.slice(0, MOST_MEMBERS).map((field) => ({
      name: clip(field.name, NAME_LENGTH),
      type: clip(field.type, NAME_LENGTH),
      required: field.required,
    })),
  };
}
