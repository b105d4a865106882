/** The closed list of what the server may ask for. */

import { click, fill } from "./act.js";
import { refuseIfOpen } from "./dialogs.js";
import { CommandError } from "./errors.js";
import { evaluate } from "./evaluate.js";
import { findElements, queryElements } from "./find.js";
import { framesOf } from "./frames.js";
import { groupTab, ungroupTab } from "./groups.js";
import { closeTab, navigateTab, openTab, revive } from "./navigation.js";
import { readHtml, readText } from "./pieces.js";
import { readPage } from "./read.js";
import { isMoved, requireKnownSite, requireSite } from "./sites.js";
import { elementStyles } from "./styles.js";
import { listTabs, requireTab } from "./tabs.js";
import { waitForElement } from "./wait.js";

/** @typedef {import("./navigation.js").Context} Context */

/** @typedef {[string, (context: Context) => Promise<unknown>][]} Commands */

/** @type {Commands} */
const forBrowser = [
  ["tabs.list", list],
  ["tabs.open", openTab],
];

/** @type {Commands} */
const forTab = [
  ["tabs.close", closeTab],
  ["tabs.group", groupTab],
  ["tabs.navigate", navigateTab],
  ["tabs.ungroup", ungroupTab],
];

/** @type {Commands} */
const forLooking = [
  ["page.find", findElements],
  ["page.html", readHtml],
  ["page.query", queryElements],
  ["page.read", readPage],
  ["page.styles", elementStyles],
  ["page.text", readText],
  ["page.wait", waitForElement],
];

/** @type {Commands} */
const forPage = [
  ["page.click", click],
  ["page.evaluate", evaluate],
  ["page.fill", fill],
  ...forLooking,
];

const browserCommands = new Map(forBrowser);
const tabCommands = new Map(forTab);
const pageCommands = new Map(forPage);
/** What tells of a page must not tell of the next one. */
const looks = new Map(forLooking);

/** @param {Context} context */
async function list({ tellNews }) {
  await tellNews();
  return { tabs: await listTabs() };
}

/**
 * News and answers leave in the order in which they came to be true: what tells the state of a
 * tab looks at it last, and is answered in the same turn.
 * @param {string} name
 * @param {Context} context
 */
export async function runCommand(name, context) {
  const browserCommand = browserCommands.get(name);
  if (browserCommand) return browserCommand(context);
  const command = tabCommands.get(name) ?? pageCommands.get(name);
  if (!command) throw new CommandError("unknown_command", `There is no command ${name}.`);
  const tabId = await requireTab(context.tabId);
  const actsInPage = pageCommands.has(name);
  if (actsInPage) await requirePage(tabId);
  context.signal.throwIfAborted();
  try {
    await requireSite(tabId, context.site);
    if (actsInPage) await context.reach.explore(framesOf(tabId), context.site);
    const output = await command(context);
    if (looks.has(name)) requireKnownSite(tabId, context.site);
    if (actsInPage) await context.tellNews();
    return output;
  } catch (error) {
    // The server decides again, by what it knows then.
    if (isMoved(error)) await context.tellNews();
    throw error;
  }
}

/** @param {number} tabId */
async function requirePage(tabId) {
  refuseIfOpen(tabId);
  if (!framesOf(tabId).length) await revive(tabId);
}
