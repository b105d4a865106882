/**
 * What a client on a remote line may do. The person gives each client a level; each command needs
 * one. The server at the far end has rules of its own, which this does not rely on.
 */

import { CommandError } from "../shared/command-errors.js";
import { getTab, isExtensionPage, refuseExtensionPage, requireTab } from "../shared/known-tabs.js";
import { LEVELS } from "../shared/remote-settings.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("../shared/remote-settings.js").Level} Level */

/**
 * `look`: seeing tabs and pages. `act`: doing what a person does with mouse, keyboard and tab strip.
 * `everything`: scripts, requests, and what the browser keeps for the person.
 * @type {Record<keyof Wire.Commands, Level>}
 */
export const NEEDED = {
  "bookmarks.create": "everything",
  "bookmarks.search": "everything",
  "bookmarks.tree": "everything",
  "cookies.delete": "everything",
  "cookies.get": "everything",
  "cookies.set": "everything",
  "downloads.list": "everything",
  "downloads.save": "everything",
  "downloads.start": "everything",
  "downloads.status": "everything",
  "extension.logs": "everything",
  "extension.panel": "look",
  "extension.state": "look",
  "groups.add": "act",
  "groups.create": "act",
  "groups.list": "look",
  "groups.remove": "act",
  "groups.update": "act",
  "history.search": "everything",
  "history.visits": "everything",
  "intercept.answer": "everything",
  "intercept.list": "everything",
  "intercept.start": "everything",
  "intercept.stop": "everything",
  "notices.show": "act",
  "page.capture": "look",
  "page.click": "act",
  "page.coverage": "look",
  "page.describe": "look",
  "page.dialog": "act",
  "page.drag": "act",
  "page.emulate": "act",
  "page.evaluate": "everything",
  "page.fill": "act",
  "page.find": "look",
  "page.hover": "act",
  "page.html": "look",
  "page.locate": "look",
  // The person is asked and shown something only by their own server.
  "page.outline": "everything",
  "page.pdf": "look",
  // It would let the site use the camera, or where the person is.
  "page.permission": "everything",
  "page.press": "act",
  "page.pseudo": "act",
  "page.query": "look",
  "page.read": "look",
  "page.resource": "look",
  "page.resources": "look",
  "page.scroll": "act",
  "page.select": "act",
  "page.set": "act",
  "page.storage": "everything",
  "page.styles": "look",
  "page.target": "look",
  "page.receiver": "look",
  "page.shownDialog": "look",
  "page.text": "look",
  "page.type": "act",
  "page.upload": "act",
  "page.wait": "look",
  "plugin.fetch": "everything",
  "plugin.fetchClose": "everything",
  "plugin.fetchRead": "everything",
  "plugin.has": "everything",
  "plugin.run": "everything",
  "plugin.storage": "everything",
  "plugin.waitFor": "everything",
  // A tab has one recording, which other agents read too.
  "record.clearConsole": "act",
  "record.console": "look",
  // Requests carry cookies and other secrets of the site.
  "record.network": "everything",
  "record.request": "everything",
  "record.sockets": "everything",
  "record.start": "act",
  "record.stop": "act",
  "sessions.recent": "everything",
  "sessions.restore": "everything",
  "site.analyze": "everything",
  "site.clear": "everything",
  "tabs.close": "act",
  "tabs.focus": "act",
  "tabs.group": "act",
  "tabs.info": "look",
  "tabs.list": "look",
  "tabs.navigate": "act",
  "tabs.open": "act",
  "tabs.release": "look",
  "tabs.ungroup": "look",
  "windows.close": "act",
  "windows.list": "look",
  "windows.update": "act",
};

/**
 * @typedef {object} Guest a client on a remote line
 * @property {string} name
 * @property {Level | null} level null: the person has not allowed it
 */

/**
 * @param {Guest} guest
 * @param {Level} needed
 * @param {string} what
 */
export function requireLevel({ name, level }, needed, what) {
  if (level === null) {
    const message = `The person at this browser has not allowed “${name}”, so nothing was done. They can allow it in tabhub's panel.`;
    throw new CommandError("permission_off", message, { client: name, needed });
  }
  if (LEVELS.indexOf(level) >= LEVELS.indexOf(needed)) return;
  const message = `The person at this browser lets “${name}” ${level}; ${what} needs the level “${needed}”, so nothing was done. They can change it in tabhub's panel.`;
  throw new CommandError("permission_off", message, { client: name, level, needed });
}

/**
 * Runs a command for a client, as far as it may.
 * @template {Context<any>} C
 * @param {Guest} guest
 * @param {string} name of the command
 * @param {C} context
 * @param {(name: string, context: C) => Promise<any>} run
 */
export async function runFenced(guest, name, context, run) {
  const bounded = fenced(guest, name, context);
  const { tabId } = context;
  // A client that only looks has grouped nothing, and the group is the person's.
  if (name === "tabs.ungroup" && guest.level === "look") return run("tabs.release", bounded);
  if (!Number.isInteger(tabId) || OF_TABS.has(name)) return run(name, bounded);
  await requireRemotePage(tabId);
  const output = await run(name, bounded);
  // The tab may show another page by now, and this may be what the command has seen.
  await requireRemotePage(tabId).catch(unlessGone);
  return output;
}

/**
 * The context in which a command may run for a client.
 * @template {{input: any}} C
 * @param {Guest} guest
 * @param {string} name of the command
 * @param {C} context
 * @returns {C}
 */
export function fenced(guest, name, context) {
  // An unknown command is refused by its name later.
  const needed = Object.hasOwn(NEEDED, name)
    ? NEEDED[/** @type {keyof Wire.Commands} */ (name)]
    : "everything";
  requireLevel(guest, needed, name);
  const { input } = context;
  if (typeof input?.url === "string" && OPENS.has(name)) requireRemoteAddress(input.url);
  const bounded = signed(guest, name, withoutPaths(input));
  return { ...context, input: bounded, requireAddress: requireRemoteAddress };
}

// What never goes over a remote line, whatever the level. Pages of extensions are refused for
// everybody (`known-tabs.js`), and a remote server has no way to reload the extension.

const OPENS = new Set([
  "tabs.open",
  "tabs.navigate",
  "downloads.start",
  "bookmarks.create",
  "notices.show",
]);
/** They concern a tab and not the page that it shows. */
const OF_TABS = new Set([
  "tabs.close",
  "tabs.focus",
  "tabs.group",
  "tabs.info",
  "tabs.navigate",
  "tabs.release",
  "tabs.ungroup",
]);
const STEPS = new Set(["back", "forward", "reload"]);
const ELSEWHERE = new Set(["http:", "https:", "data:", "blob:"]);
/** The browser takes every other one for a page of its own: about:settings is chrome://settings. */
const BLANK = new Set(["about:blank", "about:srcdoc"]);

/**
 * @param {string} address
 * @returns {string | null} the scheme of an address that leads to a file of the person's machine, or
 *   to a page of the browser itself
 */
function ownScheme(address) {
  if (!URL.canParse(address)) return null;
  const { protocol, pathname } = new URL(address);
  return ELSEWHERE.has(protocol) || BLANK.has(protocol + pathname) ? null : protocol;
}

/** @param {string} url */
export function requireRemoteAddress(url) {
  const address = url.trim();
  const scheme = STEPS.has(address) ? null : ownScheme(address);
  if (!scheme) return;
  const message = `Addresses with ${scheme} are not opened for remote clients, so nothing was done.`;
  throw new CommandError("permission_off", message);
}

/**
 * What a tab shows now. A person may have opened a file there, or a page may have gone back to one.
 * @param {number} tabId
 */
export async function requireRemotePage(tabId) {
  const { url = "", pendingUrl = "" } = await getTab(await requireTab(tabId));
  if (isExtensionPage(url) || isExtensionPage(pendingUrl)) refuseExtensionPage();
  const scheme = ownScheme(url) ?? ownScheme(pendingUrl);
  if (!scheme) return;
  const message = `This tab shows a page with ${scheme}, which is not for remote clients.`;
  throw new CommandError("permission_off", message);
}

/** @param {unknown} error */
export function unlessGone(error) {
  if (!(error instanceof CommandError && error.reason === "tab_not_found")) throw error;
}

/**
 * The server on this machine says which agent a notice is from; one elsewhere could say anything.
 * @param {Guest} guest
 * @param {string} command
 * @param {any} input
 */
function signed({ name }, command, input) {
  if (command !== "notices.show") return input;
  return { ...input, agent: `the remote client “${name}” (${input.agent})` };
}

/**
 * A path would name a file of the person's machine. Without it the bytes come from the server.
 * @param {any} input
 */
function withoutPaths(input) {
  const files = Array.isArray(input?.files) ? { files: input.files.map(withoutPath) } : {};
  const file = input?.file ? { file: withoutPath(input.file) } : {};
  return { ...input, ...files, ...file };
}

/** @param {any} file */
function withoutPath(file) {
  const { path: _, ...rest } = file ?? {};
  return rest;
}
