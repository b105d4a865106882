/** plugin.run: runs a script of a plugin in the page's own world. */

import { attachTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { CommandError, quoted } from "../shared/command-errors.js";
import { Turns, unlessAborted } from "../shared/timing.js";
import { fetchCode, fileOf, findFile } from "./adapter-files.js";
import { valueOfCode } from "./debugger-code.js";
import { unlessLeft } from "./page-departure.js";
import { frameOf } from "./page-operations.js";
import { afterwards, injectionFailed, notReady, scriptFailed } from "./plugin-answers.js";
import { inPage, isNotBegun, targetOf } from "./plugin-documents.js";
import { LOADING } from "./plugin-readiness.js";
import { begun, faultOf, offer } from "./script-runtime.js";

const MAX_TEXT = 9_000_000;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {import("./script-runtime.js").Ending} Ending */

/** The page has one place where scripts find their arguments. */
const turns = new Turns();

/** @param {Context<Wire.PluginRun>} context */
export async function runScript(context) {
  const { tabId, input, signal, ask } = context;
  const { plugin, script } = input;
  const code = await requireCode(plugin, script, ask);
  if (code !== null) await attachTab(tabId).catch(injectionFailed);
  const frame = await frameOf(context);
  const id = frame.sender?.documentId ?? "";
  return unlessDialog(tabId, signal, async (ended) => {
    const run = () => (code === null ? runFile(tabId, { id }, input) : valueOfCode(context, code));
    const work = () =>
      unlessAborted(ended, () => unlessLeft(tabId, begin(tabId, { id }, input, run)));
    const { mark, ending, fault } = await turns.take(tabId, ended, work);
    const value = await unlessLeft(tabId, ending).catch(refuse);
    if (value === null) await requireStill(tabId, { id });
    return { value: resultOf(value, mark, fault) };
  });
}

/**
 * @param {string} plugin
 * @param {string} digest
 * @param {import("./adapter-files.js").Ask} ask
 * @returns {Promise<string | null>} what the debugger has to run; null if there is a file
 */
async function requireCode(plugin, digest, ask) {
  const state = await findFile(plugin, digest, ask);
  if (state === "intact") return null;
  if (state === "changed")
    throw notReady("not_injected", "The script's file has changed since it was reviewed.");
  const code = await fetchCode(plugin, digest, ask);
  if (code !== null) return code;
  const message = "The extension has no file of the script, and the server does not send it.";
  throw notReady("not_injected", message);
}

/**
 * @param {number} tabId
 * @param {{id: string}} document
 * @param {Wire.PluginRun} input
 * @param {() => Promise<unknown>} run
 */
async function begin(tabId, document, { args = [] }, run) {
  const mark = crypto.randomUUID();
  await inPage(tabId, document, offer, { mark, args, maxText: MAX_TEXT }).catch(injectionFailed);
  const ending = run();
  const ended = ending.then(() => inPage(tabId, document, faultOf, null));
  const fault = await Promise.race([ended, inPage(tabId, document, begun, null)]).catch(() => "");
  return { mark, ending, fault: fault ?? "" };
}

/**
 * @param {number} tabId
 * @param {{id: string}} document
 * @param {Wire.PluginRun} input
 */
async function runFile(tabId, document, { plugin, script }) {
  const files = [fileOf(plugin, script)];
  const target = targetOf(tabId, document);
  const [injection] = await chrome.scripting.executeScript({ target, world: "MAIN", files });
  return injection?.result;
}

/**
 * The browser answers null for a script whose page goes away, too.
 * @param {number} tabId
 * @param {{id: string}} document
 */
async function requireStill(tabId, document) {
  await unlessLeft(tabId, inPage(tabId, document, faultOf, null)).catch(() => {
    throw afterwards();
  });
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function refuse(error) {
  if (error instanceof CommandError) throw error;
  throw isNotBegun(error) ? notReady("not_injected", LOADING.message) : afterwards();
}

/**
 * @param {any} value
 * @param {string} mark
 * @param {string} fault what the script has thrown outside of its function
 */
function resultOf(value, mark, fault) {
  /** @type {Ending | undefined} */
  const ending = value?.[mark];
  if (!ending && fault) throw scriptFailed(fault);
  if (!ending) return value ?? null;
  if (ending.state === "done") return JSON.parse(ending.text ?? "null");
  if (ending.state === "oversized") {
    throw new CommandError("too_large", "The value of the script is larger than the link carries.");
  }
  if (ending.state === "failed") throw scriptFailed(String(ending.message));
  throw new CommandError(
    "invalid_response",
    `The value of the script cannot be written as JSON: ${quoted(String(ending.message))}`,
  );
}
