/**
 * The code of plugins by the debugger, where the server cannot write into the extension's folder: in
 * a packed extension, or in a copy that a person has made. Only in tabs to which it is attached.
 */

import { send, takenTabs } from "../debugger/debugger.js";
import { addressOf, documentOf, isOn } from "../debugger/page-document.js";
import { CommandError } from "../shared/command-errors.js";
import { moved } from "../shared/known-tabs.js";
import { register, saver } from "../shared/tab-state.js";
import { Turns } from "../shared/timing.js";
import { scriptFailed } from "./plugin-answers.js";
import { isMatch } from "./url-patterns.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{urlPatterns: string[], excludePatterns: string[]}} Patterns */

/**
 * Runs code in the page's own world, in the document whose address is checked here and in no other.
 * @param {number} tabId
 * @param {Patterns} patterns
 * @param {string} code
 */
export async function evaluateCode(tabId, patterns, code) {
  const page = await documentOf(tabId);
  if (!isMatch(patterns, await addressOf(tabId, page))) {
    throw new CommandError("navigated_away", "The page is loading.");
  }
  const params = { expression: `${code}\n;0`, uniqueContextId: page.uniqueId, silent: true };
  await send(tabId, "Runtime.evaluate", params);
}

/**
 * The same in the document for which a command was allowed.
 * @param {Context<unknown>} context
 * @param {string} code
 * @returns {Promise<unknown>} the value of the code, as JSON has it
 */
export async function valueOfCode({ tabId, site, reach }, code) {
  const page = await documentOf(tabId);
  if (!(await isOn(tabId, page, site, reach))) throw moved();
  const how = { awaitPromise: true, returnByValue: true, silent: true };
  const params = { ...how, expression: code, uniqueContextId: page.uniqueId };
  const { result, exceptionDetails } = await send(tabId, "Runtime.evaluate", params);
  if (!exceptionDetails) return result.value ?? null;
  const { exception, text } = exceptionDetails;
  throw scriptFailed(String(exception?.description ?? exception?.value ?? text));
}

// Scripts that run when a document starts.

const STORED = "debugger pre-scripts";

/** @typedef {Patterns & {name: string, preScript: string, code: string}} Scripted */
/** @typedef {Record<string, {digest: string, patterns: string, id: string}>} Added by plugin */

/** @type {Map<string, Scripted>} those that may run, by plugin */
let wanted = new Map();
/** @type {Map<number, Added>} */
const added = new Map();
const turns = new Turns();
const save = saver(STORED, () => [...added]);

/**
 * @param {Scripted[]} plugins every one whose script may run; those of all others are removed
 */
export async function setPreScripts(plugins) {
  wanted = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  await Promise.all(takenTabs().map(setIn));
}

/**
 * @param {number} tabId
 * @returns {Record<string, string>} digests of those that run in its next document, by plugin
 */
export function debuggedPreScripts(tabId) {
  const here = Object.entries(added.get(tabId) ?? {});
  return Object.fromEntries(here.map(([name, { digest }]) => [name, digest]));
}

/** @param {number} tabId */
function setIn(tabId) {
  return turns.take(tabId, new AbortController().signal, () => change(tabId));
}

/** @param {number} tabId */
async function change(tabId) {
  const here = added.get(tabId) ?? {};
  const old = Object.entries(here).filter(([name, script]) => !isWanted(name, script));
  for (const [name] of old) delete here[name];
  const missing = [...wanted.values()].filter(({ name }) => !here[name]);
  const gone = old.map(([, { id }]) =>
    send(tabId, "Page.removeScriptToEvaluateOnNewDocument", { identifier: id }).catch(() => {}),
  );
  await Promise.all([...gone, ...missing.map((plugin) => add(tabId, here, plugin))]);
  if (Object.keys(here).length) added.set(tabId, here);
  else added.delete(tabId);
  if (old.length || missing.length) save();
}

/**
 * @param {string} name
 * @param {Added[string]} script
 */
function isWanted(name, { digest, patterns }) {
  const plugin = wanted.get(name);
  return plugin?.preScript === digest && patternsOf(plugin) === patterns;
}

/**
 * @param {number} tabId
 * @param {Added} here
 * @param {Scripted} plugin
 */
async function add(tabId, here, plugin) {
  const source = guarded(plugin);
  const added = await send(tabId, "Page.addScriptToEvaluateOnNewDocument", { source }).catch(
    () => null,
  );
  if (!added) return;
  const [digest, patterns] = [plugin.preScript, patternsOf(plugin)];
  here[plugin.name] = { digest, patterns, id: added.identifier };
}

/**
 * It would run in every document of the tab, so the address is looked at first. The code is a string
 * in this text, which it cannot end. No policy of the page is against `eval` here.
 * @param {Scripted} plugin
 */
function guarded(plugin) {
  const fits = `(${isMatch.source})()(${patternsOf(plugin)}, location.href)`;
  return `if (${fits}) (0, eval)(${JSON.stringify(plugin.code)});`;
}

/** @param {Patterns} patterns */
function patternsOf({ urlPatterns, excludePatterns }) {
  return JSON.stringify({ urlPatterns, excludePatterns });
}

/** @param {number} tabId */
function forget(tabId) {
  if (added.delete(tabId)) save();
}

async function restore() {
  const stored = (await chrome.storage.session.get(STORED))[STORED];
  for (const [tabId, here] of Array.isArray(stored) ? stored : []) added.set(tabId, here);
}

register({
  name: "debugger pre-scripts",
  after: ["attachments"],
  restore,
  attached: (tabId) => void setIn(tabId),
  returned: (tabId) => {
    forget(tabId);
    void setIn(tabId);
  },
  lost: forget,
  forget,
  describe: () => [...added],
});
