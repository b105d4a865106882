/** What the panel shows, decided from what it knows. No DOM here. */

import { siteOf } from "../worker/person/plain-text.js";

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
    ["domain", `Always on ${site}`],
    ["always", "Always everywhere"],
  ];
  const offered = all.filter(([scope]) => scopes.includes(scope) && (site || scope !== "domain"));
  return offered.map(([scope, label]) => ({ scope, label }));
}

/**
 * @param {number} expiresAt
 * @param {number} now
 */
export function timeLeft(expiresAt, now) {
  const seconds = Math.ceil((expiresAt - now) / 1000);
  if (seconds <= 0) return "no time left";
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
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
function actionsOn({ owner, shared }) {
  if (owner !== null) return ["take-back"];
  return [shared ? "unshare" : "share"];
}

/** @param {Pick<Panel.State, "skipPermissions" | "stopped" | "plugins">} server */
export function bannersOf({ skipPermissions, stopped, plugins }) {
  const trusted = plugins.filter((plugin) => plugin.trusted).map(({ name }) => name);
  return [
    ...(stopped
      ? [
          {
            action: "resume-all",
            label: "Resume",
            text: "Everything is stopped: no agent can act.",
          },
        ]
      : []),
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
  const what = tool === "*" ? "whatever its plan needs" : tool;
  return `${client} may use ${what}${where}${scope === "session" ? ", this session" : ""}${until}`;
}
