/** What the panel shows, decided from what it knows. No DOM here. */

import { siteOf } from "../worker/person/plain-text.js";
import { isWithinReach } from "../worker/shared/remote-settings.js";

/** @type {Set<Scope>} what can be allowed only on a site */
const OF_SITE = new Set(["domain", "site", "site_session"]);

/**
 * @param {Panel.Confirmation} confirmation
 * @returns {string} what a yes allows; an older server sends no words
 */
export function headline({ words, title, origin }) {
  const site = siteOf(origin);
  return words || (site ? `${title} on ${site}` : title);
}

/**
 * Some requests of each client are among the few that are shown, and those that are shown stay.
 * @param {Panel.Confirmation[]} requests oldest first
 * @param {Set<string>} before the ids that were shown
 * @param {number} most
 * @param {string | null} [pointed] the id of the one that the person wants to see
 */
export function shownOf(requests, before, most, pointed = null) {
  const wanted = requests.filter(({ id }) => id === pointed);
  const stay = requests.filter(({ id }) => before.has(id) && id !== pointed);
  const chosen = new Set([...wanted, ...stay].slice(0, most));
  const byClient = Map.groupBy(
    requests.filter((request) => !chosen.has(request)),
    ({ client }) => client,
  );
  for (let turn = 0; chosen.size < most && byClient.size; turn++) {
    for (const [client, its] of byClient) {
      if (turn >= its.length) byClient.delete(client);
      else if (chosen.size < most) chosen.add(its[turn]);
    }
  }
  return requests.filter((request) => chosen.has(request));
}

/**
 * @param {Panel.Confirmation} confirmation
 * @returns {{scope: Scope, label: string}[]} the ways to allow it, the narrowest first
 */
export function waysToAllow({ scopes, origin }) {
  const site = siteOf(origin);
  /** @type {[Scope, string][]} */
  const all = [
    ["once", "Allow once"],
    ["session", site ? `Allow on ${site} this session` : "Allow this session"],
    ["site_session", `All reading and acting on ${site} this session`],
    ["domain", `Always on ${site}`],
    ["site", `All reading and acting on ${site}, always`],
    ["always", "Always everywhere"],
  ];
  const offered = all.filter(([scope]) => scopes.includes(scope) && (site || !OF_SITE.has(scope)));
  return offered.map(([scope, label]) => ({ scope, label }));
}

/**
 * @param {number} expiresAt
 * @param {number} now
 */
export function timeLeft(expiresAt, now) {
  const seconds = Math.ceil((expiresAt - now) / 1000);
  if (seconds <= 0) return "no time left";
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return `${clock} left, then refused`;
}

/** @param {Panel.State | null} server */
export function waitingOf(server) {
  return (server?.confirmations?.length ?? 0) + (server?.knocks?.length ?? 0);
}

/**
 * The host of an address must always be read whole; what follows it may be cut.
 * @param {string} address
 * @returns {[whole: string, rest: string]}
 */
export function addressParts(address) {
  const host = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(address)?.[0] ?? "";
  return [host, address.slice(host.length)];
}

/** @type {[TabhubReason, string][]} what a person reads in place of a reason word */
const REASONS = [
  ["permission_denied", "Not allowed"],
  ["permission_off", "Switched off"],
  ["approval_timeout", "Not answered in time"],
  ["approval_unavailable", "Nobody could be asked"],
  ["foreign_tab", "Not its tab"],
  ["paused_by_person", "Paused by you"],
  ["cancelled_by_person", "Cancelled by you"],
  ["timeout", "Took too long"],
  ["too_many_calls", "Too many calls"],
  ["stale_ref", "Element gone"],
  ["internal", "Fault of tabhub"],
];
const IN_WORDS = /** @type {Map<string, string>} */ (new Map(REASONS));

/**
 * @param {{outcome?: Call["outcome"], reason?: string | null, denied?: boolean}} ended
 * @returns {string} why it was not done; empty if it was
 */
export function reasonText({ outcome, reason, denied }) {
  if (!outcome || outcome === "done") return "";
  if (denied) return "Denied by you";
  const word = reason ?? outcome;
  return IN_WORDS.get(word) ?? capital(word.replaceAll("_", " "));
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {Panel.State} server */
export function agentsOf({ agents, tabs }) {
  const byId = new Map(tabs.map((tab) => [tab.tabId, tab]));
  return agents.map((agent) => ({
    ...agent,
    tabs: agent.tabs.map((tabId) => ({
      tabId,
      text: byId.get(tabId)?.title || byId.get(tabId)?.url || `Tab ${tabId}`,
      isCurrent: tabId === agent.current,
    })),
  }));
}

/**
 * @param {Pick<Model, "running">} model
 * @returns {Map<string, string>} what each agent that is at work does, by its session
 */
export function workOf({ running }) {
  return new Map(running.map(({ session, title }) => [session, title]));
}

/** @typedef {"share" | "unshare" | "take-back"} TabAction */

/**
 * @param {Model} model
 * @returns {{tabId: number, title: string, url: string, whose: string, actions: TabAction[]} | null}
 */
export function thisTabOf({ server, lookedAt }) {
  const known = server?.tabs.find(
    ({ browser, nativeId }) => browser === server.browser && nativeId === lookedAt?.id,
  );
  if (!server || !lookedAt || !known) return null;
  const { tabId, owner, shared } = known;
  const { title, url } = lookedAt;
  return {
    tabId,
    title,
    url,
    whose: whoseIs(server, owner, shared),
    actions: actionsOn(known),
  };
}

/**
 * @param {Panel.State} server
 * @param {string | null} owner
 * @param {boolean} shared
 */
function whoseIs({ agents }, owner, shared) {
  const agent = agents.find(({ session }) => session === owner);
  if (agent) return `Belongs to ${agent.name}.`;
  if (owner !== null) return "Belongs to an agent.";
  return shared ? "Yours, shared with agents." : "Yours: agents cannot act on it.";
}

/**
 * @param {Panel.TabShown} tab
 * @returns {TabAction[]}
 */
export function actionsOn({ owner, shared }) {
  if (owner !== null) return ["take-back"];
  return [shared ? "unshare" : "share"];
}

const RESUME = { action: "resume-all", label: "Resume" };

/** @typedef {Pick<Model, "server" | "remote">} Links */

/**
 * @param {Links} links
 * @returns {boolean} whether any agent could act now
 */
export function canBeStopped({ server, remote }) {
  return Boolean(server && !server.stopped) || isWithinReach(remote);
}

/** @param {Links} links */
function stopBanner({ server, remote }) {
  const isFarStopped = remote?.state === "stopped";
  if (!server?.stopped && !isFarStopped) return [];
  const others = isFarStopped
    ? "Agents on other machines are stopped; those on this one can act."
    : "Agents on this machine are stopped; those on others can act.";
  const all = "Everything is stopped: no agent can act.";
  const text = canBeStopped({ server, remote }) ? others : all;
  return [{ ...RESUME, text }];
}

/** @param {Links} links */
export function bannersOf({ server, remote }) {
  const { skipPermissions, plugins = [] } = server ?? {};
  const trusted = plugins.filter((plugin) => plugin.trusted).map(({ name }) => name);
  return [
    ...stopBanner({ server, remote }),
    ...(skipPermissions
      ? [
          {
            action: "skip-off",
            label: "Ask me again",
            text: "Permissions are skipped: agents act without asking you.",
          },
        ]
      : []),
    ...(trusted.length
      ? [
          {
            action: "dev-mode",
            label: "",
            text: `Dev mode: ${trusted.join(", ")} run without your review.`,
          },
        ]
      : []),
  ];
}

/**
 * Grouped by plugin, or by the site whose pages publish the tools.
 * @param {Pick<Panel.State, "tools">} server
 * @returns {{family: string, tools: Panel.ToolShown[]}[]}
 */
export function familiesOf({ tools }) {
  const families = Map.groupBy(tools, ({ plugin, site }) => plugin || site);
  return [...families].map(([family, its]) => ({ family, tools: its }));
}

/** @param {Pick<Panel.State, "toolsLeftOut">} server */
export function leftOutText({ toolsLeftOut }) {
  if (!toolsLeftOut) return "";
  return `${toolsLeftOut} more tools of pages are not shown; “tabhub tool list” lists them.`;
}

/** @param {Panel.GrantShown} grant */
export function grantText({ tool, client, site, scope, expires }) {
  const where = site ? ` on ${site}` : " everywhere";
  const until = expires ? ` until ${new Date(expires).toLocaleString()}` : "";
  const what = tool === "*" ? "use whatever its plan needs" : `use ${tool}`;
  const may = OF_SITE.has(scope) && scope !== "domain" ? "do all that reads or acts" : what;
  const isBrief = scope === "session" || scope === "site_session";
  return `${client} may ${may}${where}${isBrief ? ", this session" : ""}${until}`;
}

/**
 * @param {Pick<Model, "running" | "ended">} model
 * @returns {Call[]} the newest first; a call keeps its place when it ends
 */
export function callsOf({ running, ended }) {
  const all = [...ended, ...running];
  // Older servers send no time: then as they came.
  return all
    .map((call, index) => ({ call, index, at: call.startedAt ?? 0 }))
    .sort((a, b) => b.at - a.at || b.index - a.index)
    .map(({ call }) => call);
}

/**
 * @param {Panel.State} server
 * @param {number | null | undefined} tabId
 */
export function tabTitle({ tabs }, tabId) {
  if (tabId === null || tabId === undefined) return "";
  const tab = tabs.find((one) => one.tabId === tabId);
  return tab?.title || tab?.url || `Tab ${tabId}`;
}

/**
 * @param {Panel.State} server
 * @returns {{name: string, session: string | null, color: string, tabs: Panel.TabShown[]}[]} those of
 *   agents first, then what is shared, then the rest
 */
export function tabGroupsOf({ agents, tabs }) {
  const groups = agents.map(({ session, name, color }) => ({
    name,
    session,
    color,
    tabs: tabs.filter(({ owner }) => owner === session),
  }));
  const known = new Set(agents.map(({ session }) => session));
  const others = tabs.filter(({ owner }) => owner !== null && !known.has(owner));
  const own = tabs.filter(({ owner }) => owner === null);
  const more = [
    { name: "Agents that have left", tabs: others },
    { name: "Shared with agents", tabs: own.filter(({ shared }) => shared) },
    { name: "Yours", tabs: own.filter(({ shared }) => !shared) },
  ].map((group) => ({ ...group, session: null, color: "grey" }));
  return [...groups, ...more].filter((group) => group.tabs.length);
}

/**
 * @param {Panel.ToolShown[]} tools
 * @param {string} words all of which a tool must have
 */
export function matchingTools(tools, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return tools;
  return tools.filter(({ name, title, plugin, site }) => {
    const text = `${name} ${title} ${plugin} ${site}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
