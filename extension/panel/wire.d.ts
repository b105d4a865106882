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
    plugins: PluginShown[];
    failedPlugins: FailedPluginShown[];
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

  /** A plugin in the panel. Its texts are its author's. */
  interface PluginShown {
    name: string;
    title: string;
    description: string;
    package: string;
    version: string;
    source: "environment" | "installed" | "local";
    folder: string;
    urlPatterns: string[];
    excludePatterns: string[];
    homepage: string;
    /** How many tools it has. */
    tools: number;
    /** Whether some of its code runs before the pages' own, in all frames. */
    hasPreScript: boolean;
    hasSettings: boolean;
    /** Whether the person has reviewed its files as they are now. */
    review: "changed" | "never" | "reviewed";
    /** Whether it runs without a review, in dev mode, because the person works on it. */
    trusted: boolean;
    /** The version that they reviewed last. */
    reviewedVersion: string | null;
    /** Why none of its code may run; null if it may. */
    closed: "not_reviewed" | "off" | null;
    settings: SettingShown[];
    /** The version that waits for a review beside this one. */
    waitingVersion: string | null;
    /** A newer version in the registry, which was not fetched yet. */
    latestVersion: string | null;
    /** The open tabs that it is for. */
    tabs: PluginTabShown[];
  }

  /** A setting of a plugin, without its value, which may be a secret. */
  interface SettingShown {
    key: string;
    type: "boolean" | "number" | "select" | "string" | "url";
    label: string;
    description: string;
    required: boolean;
    /** What can be chosen, if its type is `select`. */
    options: string[];
    isSet: boolean;
  }

  /** Whether a plugin can be used in a tab, and if not, why. */
  interface PluginTabShown {
    tabId: number | string;
    ready: boolean;
    reason: string | null;
    /** May have the plugin's own words. */
    message: string;
  }

  /** A folder that should have a plugin, and why there is none. */
  interface FailedPluginShown {
    folder: string;
    reason: string;
    message: string;
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

  /** The result of `plugin.search`, the best first. */
  interface PluginResults {
    results: PluginResult[];
  }

  /** A package that a search has found. */
  interface PluginResult {
    /** The package's name, for `plugin.install`. */
    name: string;
    /** The name that the plugin would have. */
    plugin: string;
    version: string;
    description: string;
  }

  /** The result of `plugin.install` and `plugin.updateFromRegistry`. */
  interface PluginInstalled {
    plugin: PluginInPlace;
    ok?: boolean;
  }

  /** A plugin as it was installed. */
  interface PluginInPlace {
    name: string;
    displayName: string;
    package: string;
    version: string;
    toolCount: number;
    /** Whether it waits for a review beside the reviewed version, which keeps running. */
    waits: boolean;
    /** False if exactly this version was there before. */
    isNew: boolean;
  }

  /** The result of `plugin.remove` and `plugin.removeBySpecifier`. */
  interface PluginRemoved {
    ok?: boolean;
  }

  /** The result of `plugin.checkUpdates`. */
  interface OutdatedPlugins {
    outdated: OutdatedPlugin[];
    /** Why some plugins could not be checked, by name. */
    failed: Record<string, string>;
  }

  /** An installed plugin of which the registry has a newer version. */
  interface OutdatedPlugin {
    name: string;
    package: string;
    currentVersion: string;
    latestVersion: string;
  }

  /** The result of `plugin.getReview`. The texts are those of the plugin's author. */
  interface ReviewShown {
    plugin: string;
    package: string;
    version: string;
    title: string;
    description: string;
    source: "environment" | "installed" | "local";
    folder: string;
    homepage: string | null;
    urlPatterns: string[];
    /** Where it also runs, unless the person sets other addresses. */
    defaultAddresses: string[];
    excludePatterns: string[];
    hasPreScript: boolean;
    /** The names of its settings, whose values the pages can read. */
    settings: string[];
    language: "javascript" | "python";
    /** Patterns that its requests may go to, beside the pages that it is for. */
    hosts: string[];
    readsCookies: boolean;
    /** What its code could do. */
    warning: string;
    tools: ReviewTool[];
    files: ReviewFile[];
    review: "changed" | "never" | "reviewed";
    reviewedVersion: string | null;
  }

  /** A tool of a plugin. Its words are the author's. */
  interface ReviewTool {
    name: string;
    description: string;
  }

  /** A file of a plugin. */
  interface ReviewFile {
    name: string;
    bytes: number;
    /** Empty for a file that is gone since the last review. */
    sha256: string;
    /** What has changed since the last review, as `diff -u` writes it; none if there was none. */
    changes: string[];
  }

  /** The result of `plugin.getSource`. */
  interface SourceShown {
    text: string;
    /** Where the next part begins; null at the end. */
    next: number | null;
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

  /** `plugin.search`. */
  interface PluginSearch {
    query: string;
  }

  /** `plugin.install`: a package, also with a version or a tag, such as `name@1.2.3`. */
  interface PluginInstall {
    name: string;
  }

  /** `plugin.updateFromRegistry` and `plugin.remove`: the plugin's own name. */
  interface PluginNamed {
    name: string;
  }

  /** `plugin.removeBySpecifier`: the package that was installed. */
  interface PluginSpecified {
    specifier: string;
  }

  /** `folder.open`: the folder of a plugin, or the one with all installed plugins. */
  interface FolderOpen {
    path: string;
  }

  /** `plugin.getReview`. */
  interface GetReview {
    plugin: string;
  }

  /** `plugin.getSource`: a part of one file, from a character on. */
  interface GetSource {
    plugin: string;
    file: string;
    offset?: number;
  }

  /** `plugin.approve`: the person approves exactly the files that they were shown. */
  interface ApprovePlugin {
    plugin: string;
    /** The digests of its files, as `plugin.getReview` gave them, in the same order. */
    sha256: string[];
    level?: "ask" | "auto";
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
    /** Null removes a value. If one is wrong, none is changed. */
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
    /** Search the npm registry for plugins. */
    "plugin.search": { params: PluginSearch; result: PluginResults };
    /** Install a plugin from the npm registry; it runs once the person has reviewed it. */
    "plugin.install": { params: PluginInstall; result: PluginInstalled };
    /** Fetch the latest version; it waits for a review beside a reviewed one. */
    "plugin.updateFromRegistry": { params: PluginNamed; result: PluginInstalled };
    /** Remove an installed plugin with its settings, its level and its review. */
    "plugin.remove": { params: PluginNamed; result: PluginRemoved };
    /** The same by the name of the package, also for one that cannot be read. */
    "plugin.removeBySpecifier": { params: PluginSpecified; result: PluginRemoved };
    /** Ask the registry which installed plugins have newer versions; nothing is fetched. */
    "plugin.checkUpdates": { params: Nothing; result: OutdatedPlugins };
    /** Show the folder of a plugin in the system's file manager; no other folder. */
    "folder.open": { params: FolderOpen; result: Nothing };
    /** What the person reads before they approve a plugin, or the update that waits. */
    "plugin.getReview": { params: GetReview; result: ReviewShown };
    /** A part of one file of the plugin. */
    "plugin.getSource": { params: GetSource; result: SourceShown };
    /** Open the plugin for exactly these files; if one differs by now, nothing changes. */
    "plugin.approve": { params: ApprovePlugin; result: Nothing };
  }

  interface Notifications {
    "plugins.changed": Nothing;
    "tool.invocationStart": InvocationStart;
    "tool.invocationEnd": InvocationEnd;
    "confirmation.request": Confirmation;
    "confirmation.closed": ConfirmationClosed;
    "confirmation.missed": ConfirmationMissed;
    "state.changed": Nothing;
  }
}
