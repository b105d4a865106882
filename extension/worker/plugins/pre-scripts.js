/**
 * Scripts that plugins run when a document starts, before any script of the page. The browser runs
 * them by itself, so they are registered only while a server says that they may run, and never
 * across a restart of the browser.
 */

import { fileOf } from "./adapter-files.js";

const PREFIX = "plugin:";

/** @typedef {Wire.PluginCode & {preScript: string}} Scripted */

/** @param {Scripted} plugin */
function idOf({ name, preScript, urlPatterns, excludePatterns }) {
  return `${PREFIX}${JSON.stringify([name, preScript, urlPatterns, excludePatterns])}`;
}

/**
 * @param {Scripted} plugin
 * @returns {chrome.scripting.RegisteredContentScript}
 */
function scriptOf(plugin) {
  return {
    id: idOf(plugin),
    js: [fileOf(plugin.name, plugin.preScript)],
    matches: plugin.urlPatterns,
    excludeMatches: plugin.excludePatterns,
    runAt: "document_start",
    world: "MAIN",
    allFrames: true,
    persistAcrossSessions: false,
  };
}

/**
 * @param {Scripted[]} plugins every one whose script may run; those of all others are removed
 * @returns {Promise<Map<string, string>>} why a plugin's script could not be registered, by name
 */
export async function registerOnly(plugins) {
  const wanted = new Set(plugins.map(idOf));
  const known = (await registered()).map(({ id }) => id);
  const others = known.filter((id) => !wanted.has(id));
  if (others.length) await chrome.scripting.unregisterContentScripts({ ids: others });
  /** @type {Map<string, string>} */
  const refused = new Map();
  for (const plugin of plugins.filter((each) => !known.includes(idOf(each)))) {
    await chrome.scripting
      .registerContentScripts([scriptOf(plugin)])
      .catch((error) => refused.set(plugin.name, String(error?.message)));
  }
  return refused;
}

async function registered() {
  const scripts = await chrome.scripting.getRegisteredContentScripts();
  return scripts.filter(({ id }) => id.startsWith(PREFIX));
}
