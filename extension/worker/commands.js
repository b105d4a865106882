/** The closed list of what the server may ask for. */

import { click, fill } from "./act.js";
import { CommandError } from "./errors.js";
import { evaluate } from "./evaluate.js";
import { closeTab, navigateTab, openTab } from "./navigation.js";
import { readPage } from "./read.js";
import { listTabs, requireTab } from "./tabs.js";

/** @typedef {import("./navigation.js").Context} Context */

/** @typedef {[string, (context: Context) => Promise<unknown>][]} Commands */

/** @type {Commands} */
const forBrowser = [
  ["tabs.list", async () => ({ tabs: await listTabs() })],
  ["tabs.open", openTab],
];

/** @type {Commands} */
const forTab = [
  ["tabs.close", closeTab],
  ["tabs.navigate", navigateTab],
  ["page.click", click],
  ["page.evaluate", evaluate],
  ["page.fill", fill],
  ["page.read", readPage],
];

const browserCommands = new Map(forBrowser);
const tabCommands = new Map(forTab);

/**
 * @param {string} name
 * @param {Context} context
 */
export async function runCommand(name, context) {
  const browserCommand = browserCommands.get(name);
  if (browserCommand) return browserCommand(context);
  const tabCommand = tabCommands.get(name);
  if (!tabCommand) throw new CommandError("unknown_command", `There is no command ${name}.`);
  await requireTab(context.tabId);
  return tabCommand(context);
}
