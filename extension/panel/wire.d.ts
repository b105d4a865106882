/** The panel's messages. Written by `make docs` from src/tabhub/wire/panel.py. */
// prettier-ignore
declare namespace Panel {
  /** The result of `config.getState`: everything that the panel shows. */
  interface State {
    /** The profile id of the browser that asks. */
    browser: string;
    kind: "managed" | "personal";
    skipPermissions: boolean;
    stopped: boolean;
    unattended: "allow" | "deny";
    policyFile: string | null;
    agents: AgentShown[];
    tabs: TabShown[];
    /** Oldest first. */
    confirmations: Confirmation[];
    /** At most 500 page tools among them. */
    tools: ToolShown[];
    /** How many page tools are left out. */
    toolsLeftOut: number;
    plugins: unknown[];
    grants: GrantShown[];
    knocks: WaitingPage[];
    pages: AllowedPage[];
  }

  /** An agent in the panel. */
  interface AgentShown {
    session: string;
    name: string;
    client: string;
    color: string;
    paused: boolean;
    /** Whether it is writing its answer. */
    answering: boolean;
    /** The tab that it last acted on. */
    current: number | null;
    tabs: number[];
  }

  /** A tab of any browser in the panel. */
  interface TabShown {
    /** The server's own number. */
    tabId: number;
    /** Chrome's number in that browser. */
    nativeId: number;
    browser: string;
    title: string;
    url: string;
    active: boolean;
    focusedWindow: boolean;
    /** The session of the agent that owns it. */
    owner: string | null;
    shared: boolean;
  }

  /** `confirmation.request`: a call that waits for the person's decision. */
  interface Confirmation {
    id: string;
    tool: string;
    title: string;
    plugin: string;
    client: string;
    agent: string;
    session: string;
    tab: ConfirmationTab | null;
    origin: string;
    /** The arguments of the call, in full. */
    parameters: Record<string, unknown>;
    rule: string;
    /** The scopes that an approval of this call may have. */
    scopes: ("always" | "domain" | "once" | "session")[];
    /** Milliseconds since 1970. */
    expiresAt: number;
  }

  /** The tab of a call. */
  interface ConfirmationTab {
    tabId: number;
    title: string;
    url: string;
  }

  /** A tool and its permission in the panel. */
  interface ToolShown {
    name: string;
    title: string;
    plugin: string;
    /** The site whose pages publish it; empty for all other tools. */
    site: string;
    /** Null if it is not set, so that a more general rule decides. */
    permission: "ask" | "auto" | "off" | null;
    effective: "ask" | "auto" | "off";
  }

  /** A grant in the panel. */
  interface GrantShown {
    id: string;
    scope: "always" | "domain" | "once" | "session";
    /** `*` for a plan. */
    tool: string;
    client: string;
    site: string | null;
    /** Milliseconds since 1970. */
    expires: number | null;
  }

  /** A page that waits at `/page` for the person's decision. */
  interface WaitingPage {
    origin: string;
    /** The page shows it too. */
    code: string;
    /** Of calls through its origin's page worker once it is paired; null if none is set. */
    level: "ask" | "auto" | "off" | null;
  }

  /** An origin that may offer tools without the extension, or a pattern of such origins. */
  interface AllowedPage {
    origin: string;
    /** Of calls through its page worker; null if they are judged as in any browser. */
    level: "ask" | "auto" | "off" | null;
  }

  /** The result of `confirmation.response`. */
  interface ConfirmationOutcome {
    /** False if the call was decided before. */
    accepted: boolean;
    outcome: "allowed" | "cancelled" | "denied" | "timeout" | "unavailable" | "unknown";
  }

  /** No params, or a result without members. */
  interface Nothing {
  }

  /** `confirmation.response`: the person's decision. */
  interface ConfirmationResponse {
    id: string;
    decision: "allow" | "allow_always" | "allow_once" | "allow_session" | "deny";
    scope?: "always" | "domain" | "once" | "session" | null;
    /** How long the grant lasts; null for no end. */
    seconds?: number | null;
  }

  /** `config.setToolPermission`; null removes the setting. */
  interface SetToolPermission {
    plugin: string;
    tool: string;
    permission: "ask" | "auto" | "off" | null;
  }

  /** `config.setPluginPermission`; null removes the setting. */
  interface SetPluginPermission {
    plugin: string;
    permission: "ask" | "auto" | "off" | null;
  }

  /** `config.setSkipPermissions`: applies until it is switched off or the server ends. */
  interface SetSkipPermissions {
    skip: boolean;
  }

  /** `config.setPluginSettings`. */
  interface SetPluginSettings {
    plugin: string;
    settings: Record<string, unknown>;
  }

  /** `agent.pause`. */
  interface AgentPause {
    session: string;
    paused: boolean;
  }

  /** `agents.stop`: all agents at once. */
  interface AgentsStop {
    stopped: boolean;
  }

  /** `tab.share`: one of the person's own tabs, by the server's number. */
  interface TabShare {
    tabId: number;
    shared: boolean;
  }

  /** `tab.takeBack`: gives an agent's tab back to the person. */
  interface TabTakeBack {
    tabId: number;
  }

  /** `grant.revoke`. */
  interface GrantRevoke {
    id: string;
  }

  /** `page.pair`: the person's decision about a page that waits at `/page`. */
  interface PagePair {
    origin: string;
    code: string;
    allowed: boolean;
    /** Of calls through the origin's page worker; null for the one in `WaitingPage`. */
    level?: "ask" | "auto" | "off" | null;
  }

  /** `config.setPageLevel`; null removes the level. */
  interface SetPageLevel {
    origin: string;
    level: "ask" | "auto" | "off" | null;
  }

  /** `tool.invocationStart`: a call was allowed and runs now. It has no arguments. */
  interface InvocationStart {
    id: string;
    tool: string;
    title: string;
    plugin: string;
    /** Of the agent that made the call. */
    session: string;
    /** The server's own number of the tab. */
    tabId: number | null;
  }

  /** `tool.invocationEnd`: the call of that id has ended, in a result or an error. */
  interface InvocationEnd {
    id: string;
    tool: string;
    plugin: string;
  }

  /** `confirmation.closed`: the call no longer waits. */
  interface ConfirmationClosed {
    id: string;
    outcome: "allowed" | "cancelled" | "denied" | "timeout" | "unavailable";
  }

  /** `confirmation.missed`: a call was refused because no panel was open. */
  interface ConfirmationMissed {
    tool: string;
    title: string;
    client: string;
    agent: string;
    origin: string;
  }

  interface Requests {
    /** Everything that the panel shows. */
    "config.getState": { params: Nothing; result: State };
    /** `seconds` is how long the approval lasts. `accepted` is false if the call was decided before. */
    "confirmation.response": { params: ConfirmationResponse; result: ConfirmationOutcome };
    /** Null removes the setting, so that more general rules apply. */
    "config.setToolPermission": { params: SetToolPermission; result: Nothing };
    /** Null removes the setting, so that more general rules apply. */
    "config.setPluginPermission": { params: SetPluginPermission; result: Nothing };
    /** Applies until it is switched off or the server ends. */
    "config.setSkipPermissions": { params: SetSkipPermissions; result: Nothing };
    /** Fails until a plugin has settings. */
    "config.setPluginSettings": { params: SetPluginSettings; result: Nothing };
    /** Pause or resume an agent. */
    "agent.pause": { params: AgentPause; result: Nothing };
    /** Stop or resume all agents. */
    "agents.stop": { params: AgentsStop; result: Nothing };
    /** Share a tab with all agents, or stop sharing it. */
    "tab.share": { params: TabShare; result: Nothing };
    /** Give an agent's tab back to the person. */
    "tab.takeBack": { params: TabTakeBack; result: Nothing };
    /** Remove a grant. */
    "grant.revoke": { params: GrantRevoke; result: Nothing };
    /** The decision about a page that waits at `/page`; `not_found` if it no longer waits. */
    "page.pair": { params: PagePair; result: Nothing };
    /** The level of calls through an allowed origin's page worker; `not_found` for any other origin. */
    "config.setPageLevel": { params: SetPageLevel; result: Nothing };
  }

  interface Notifications {
    "tool.invocationStart": InvocationStart;
    "tool.invocationEnd": InvocationEnd;
    "confirmation.request": Confirmation;
    "confirmation.closed": ConfirmationClosed;
    "confirmation.missed": ConfirmationMissed;
    "state.changed": Nothing;
  }
}
