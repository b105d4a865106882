/** What the panel says about plugins. No DOM here. */

import { count } from "../units.js";
import { tabTitle } from "../view.js";

/** @param {Panel.PluginShown} plugin */
export function versionText({ package: name, version, source, folder }) {
  return `${version}, ${source === "local" ? `your folder ${folder}` : name}`;
}

/**
 * @param {Panel.PluginShown} plugin
 * @returns {string} what the person should know first; empty if there is nothing
 */
export function warningText({ review, trusted, closed, waitingVersion }) {
  if (waitingVersion) return `Update ${waitingVersion} needs your review.`;
  if (trusted && !closed)
    return "Dev mode: it runs as it lies in your folder, without a review, until the server ends.";
  if (review === "never") return "Blocked until you review it.";
  return review === "changed" ? "It has changed: blocked until you review it." : "";
}

/** @param {Panel.PluginShown} plugin */
export function reviewText({ version, review, closed, tools }) {
  if (review !== "reviewed") return "";
  const state = closed ? "is off" : `has ${count(tools, "tool")}`;
  return `Version ${version} is reviewed and ${state}.`;
}

/**
 * Where it can be used, with the words of every other report.
 * @param {Panel.PluginShown} plugin
 * @param {Panel.State} server
 */
export function readinessTexts({ closed, tabs }, server) {
  const shown = closed ? tabs.filter(({ reason }) => reason === "needs_reload") : tabs;
  if (!closed && !shown.length) return ["No open tab is for it (no_tab)."];
  const named = (/** @type {number | string} */ id) =>
    typeof id === "number" ? tabTitle(server, id) : `Tab ${id}`;
  return shown.map(({ tabId, ready, reason, message }) =>
    ready ? `Ready in “${named(tabId)}”.` : `“${named(tabId)}”: ${reason}. ${message}`.trim(),
  );
}

/**
 * One address, or several with names: `work=https://a.example home=https://b.example`. An address
 * itself may contain an equals sign.
 * @param {string} text
 * @returns {string | Record<string, string>}
 */
export function addressesOf(text) {
  if (text.split("=")[0].includes("://")) return text;
  const words = text.split(/\s+/);
  if (!words.every((word) => word.includes("="))) return text;
  return Object.fromEntries(
    words.map((word) => {
      const end = word.indexOf("=");
      return [word.slice(0, end), word.slice(end + 1)];
    }),
  );
}

/**
 * @param {Panel.ReviewShown} shown
 * @returns {[string, string][]} what it is, by term
 */
export function factsOf(shown) {
  const { urlPatterns, defaultAddresses, excludePatterns, settings, reviewedVersion } = shown;
  const until = ", until you set another address";
  const readable = shown.language === "python" ? "" : "; the page can read their values";
  /** @type {[string, string][]} */
  const all = [
    ["Package", `${shown.package} ${shown.version}, ${shown.folder}`],
    ["Runs on", urlPatterns.join(" ") || "the site in its settings"],
    ["Also on", defaultAddresses.length ? `${defaultAddresses.join(" ")}${until}` : ""],
    ["But not on", excludePatterns.join(" ")],
    [
      "At start",
      shown.hasPreScript ? "some of its code runs before the page's, in all frames" : "",
    ],
    ["Requests", shown.hosts.length ? `also to ${shown.hosts.join(" ")}` : ""],
    ["Cookies", shown.readsCookies ? "it reads those of these pages" : ""],
    ["Settings", settings.length ? `${settings.join(", ")}${readable}` : ""],
    ["Last reviewed", reviewedVersion === null ? "never" : `version ${reviewedVersion}`],
  ];
  return all.filter(([, text]) => text);
}

/** @param {Panel.ReviewFile} file */
export function fileText({ name, bytes, sha256, changes }) {
  if (!sha256) return `${name}: it is gone`;
  return `${name}: ${bytes} bytes${changes.length ? ", changed" : ""}`;
}
