/** What the panel says about plugins. No DOM here. */

/** @param {Panel.PluginShown} plugin */
export function versionText({ package: name, version, source, folder, waitingVersion }) {
  const where = source === "local" ? `your folder ${folder}` : name;
  const waiting = waitingVersion ? `; ${waitingVersion} waits for your review` : "";
  return `${version}, ${where}${waiting}`;
}

/** @param {Panel.PluginShown} plugin */
export function reviewText({ name, review, trusted, closed, tools }) {
  const command = `tabhub plugin review ${name}`;
  if (trusted && !closed)
    return "DEV MODE: it runs as it lies in your folder, without a review, until the server ends.";
  if (review === "never") return `It cannot run until you have reviewed it: ${command}`;
  if (review === "changed") return `It has changed since your review, and cannot run: ${command}`;
  return closed ? "Reviewed, and off." : `Reviewed: ${tools} ${tools === 1 ? "tool" : "tools"}.`;
}

/**
 * Where it can be used, with the words of every other report.
 * @param {Panel.PluginShown} plugin
 */
export function readinessTexts({ closed, tabs }) {
  const shown = closed ? tabs.filter(({ reason }) => reason === "needs_reload") : tabs;
  if (!closed && !shown.length) return ["No open tab is for it (no_tab)."];
  return shown.map(({ tabId, ready, reason, message }) =>
    ready ? `Ready in tab ${tabId}.` : `Tab ${tabId}: ${reason}. ${message}`.trim(),
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
