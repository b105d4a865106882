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
    /** The oldest of each client first. */
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
    /** The tab that it last acted on; a call changes it without `state.changed`, since the start and the end of the call name the tab. */
    current: number | null;
    tabs: number[];
    /** False after a restart of the server, until it comes back. */
    connected: boolean;
    /** When it called last, in milliseconds since 1970; null if not since the server started. It changes without `state.changed`. */
    lastSeen: number | null;
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
    /** `loading`, `complete` or `unloaded`, as the browser says. */
    status: string;
    /** How many tools its page publishes. */
    tools: number;
    /** Whether the agent that owns it is paused, or all are stopped. */
    paused: boolean;
  }

  /** `confirmation.request`: a call that waits for the person's decision. */
  interface Confirmation {
    id: string;
    tool: string;
    title: string;
    /** What a yes allows, in one sentence, with the name that the page gives to what it is done to: shortened, and without characters that cannot be seen. */
    words: string;
    /** Whether there is an element that `confirmation.outline` can outline. */
    hasTarget: boolean;
    plugin: string;
    client: string;
    agent: string;
    session: string;
    tab: ConfirmationTab | null;
    origin: string;
    /** The arguments of the call, in full. */
    parameters: Record<string, unknown>;
    /** The names of those that may be a password: they are shown when the person asks for them. */
    secrets: string[];
    rule: string;
    /** The rule in words that follow "Asked because". */
    why: string;
    /** The scopes that an approval of this call may have. */
    scopes: ("always" | "domain" | "once" | "session" | "site" | "site_session")[];
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
    scope: "always" | "domain" | "once" | "session" | "site" | "site_session";
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

  /** The result of `calls.recent`. */
  interface RecentCalls {
    /** At most 100, the newest last. */
    calls: InvocationEnd[];
  }

  /** `tool.invocationEnd`: the call of that id has ended, in a result or an error. */
  interface InvocationEnd {
    id: string;
    tool: string;
    title: string;
    plugin: string;
    /** Of the agent that made the call. */
    session: string;
    client: string;
    /** What the agent calls itself; unverified. */
    agent: string;
    /** The server's own number of the tab. */
    tabId: number | null;
    /** When the call arrived, in milliseconds since 1970; it may have waited for the person. */
    startedAt: number;
    outcome: "cancelled" | "done" | "failed" | "refused";
    /** The reason word of its error. */
    reason: string | null;
    /** Whether the person was asked and said no. */
    denied: boolean;
    durationMs: number;
    /** The size of the result's content. */
    bytes: number;
  }

  /** The result of `audit.list`. */
  interface AuditRows {
    /** Newest first. A page may have fewer rows than asked for, even none, where others follow: it ends after half a second, or when it is large. */
    rows: AuditRow[];
    /** The cursor of the next page; null if there is none. */
    next: string | null;
  }

  /** An entry of the audit log. */
  interface AuditRow {
    id: string;
    /** When it ended, in milliseconds since 1970. */
    time: number;
    /** `you`, or the client with the name that its agent gives itself. */
    who: string;
    client: string;
    /** What the person did has the name of the request in its place. */
    tool: string;
    title: string;
    words: string;
    tab: number | string | null;
    site: string;
    outcome: "cancelled" | "done" | "failed" | "refused";
    reason: string | null;
    /** Whether the person said no: to this call, or, if the entry is theirs, to another. */
    denied: boolean;
    /** The sentence of its error. */
    message: string | null;
    durationMs: number;
    /** The size of the result; null if there was none. */
    bytes: number | null;
    /** How many refused calls the entry stands for. */
    times: number;
    /** As they are kept: without secrets, and cut. */
    arguments: Record<string, unknown>;
    rule: string;
  }

  /** The result of `audit.export`. */
  interface AuditText {
    /** Whole lines, newest first; with `csv`, the first page begins with the names of columns. */
    text: string;
    next: string | null;
  }

  /** The result of `tool.describe`. The texts of a page's or a plugin's tool are theirs. */
  interface ToolDescribed {
    name: string;
    title: string;
    description: string;
    /** The schema of the arguments, without the tab. */
    inputSchema: Record<string, unknown>;
    readOnly: boolean;
    /** Whether its author declares it destructive or consequential. */
    careful: boolean;
    toolsets: string[];
    /** Whether a call goes to one tab. */
    needsTab: boolean;
    /** Arguments that the audit log does not keep. */
    secretArguments: string[];
  }

  /** The result of `tool.run`. */
  interface ToolRan {
    isError: boolean;
    /** Cut after 20,000 characters. */
    text: string;
    /** The first picture, as a data URL. */
    image: string | null;
  }

  /** The result of `clients.list`. */
  interface ClientList {
    clients: ClientShown[];
    connect: ConnectCommand[];
  }

  /** A client, without its token. */
  interface ClientShown {
    name: string;
    /** `main` is the person's own secret. */
    kind: "main" | "token";
    /** Milliseconds since 1970; null if that is not known. */
    created: number | null;
    /** When it used an endpoint for agents last; null if it never did. */
    lastSeen: number | null;
    /** How many are open. */
    sessions: number;
    /** The only ones that its token opens; null for all. */
    toolsets: string[] | null;
    readOnly: boolean;
    /** Whether `client.revoke` can revoke its token. */
    revocable: boolean;
  }

  /** How to connect one agent. */
  interface ConnectCommand {
    agent: string;
    command: string;
  }

  /** The result of `settings.list`. Secrets, levels and the settings of plugins are not in it. */
  interface SettingList {
    settings: ListedSetting[];
  }

  /** A setting of `config.json`. */
  interface ListedSetting {
    key: string;
    /** As in the file, else the default. */
    value: unknown;
    default: unknown;
    type: "boolean" | "choice" | "list" | "number" | "text";
    /** What can be chosen, for `choice` and for some lists. */
    choices: string[];
    about: string;
    /** What else decides it while the server runs: a flag, or a variable of the environment. */
    lockedBy: string | null;
    /** Whether the server uses this value only after its next start. */
    waits: boolean;
  }

  /** The result of `settings.set`. */
  interface SettingOutcome {
    /** Whether the server uses the value only after its next start. */
    waits: boolean;
  }

  /** The result of `plugin.logs`: the last lines, the newest last. */
  interface PluginLogLines {
    lines: PluginLogLine[];
  }

  /** What a plugin has logged; a page that it runs in may have written it. */
  interface PluginLogLine {
    /** Milliseconds since 1970. */
    time: number;
    level: "debug" | "error" | "info" | "warning";
    text: string;
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
    scope?: "always" | "domain" | "once" | "session" | "site" | "site_session" | null;
    /** How long the grant lasts; null for no end. */
    seconds?: number | null;
  }

  /** `confirmation.outline`: whether the page outlines what the call would be done to. */
  interface ConfirmationOutline {
    id: string;
    shown: boolean;
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

  /** `call.cancel`: end a running call. */
  interface CallCancel {
    /** As in `tool.invocationStart`. */
    id: string;
  }

  /** `audit.list`. */
  interface AuditList {
    /** The cursor of the page before; null for the newest entries. */
    before?: string | null;
    client?: string | null;
    tool?: string | null;
    outcome?: "cancelled" | "done" | "failed" | "refused" | null;
    /** Words that the entry has somewhere, all of them, whatever their case. */
    text?: string | null;
    /** Only what the person did, or only what others did. */
    who?: "agents" | "you" | null;
    limit?: number;
  }

  /** `audit.export`. */
  interface AuditExport {
    /** The cursor of the page before; null for the newest entries. */
    before?: string | null;
    client?: string | null;
    tool?: string | null;
    outcome?: "cancelled" | "done" | "failed" | "refused" | null;
    /** Words that the entry has somewhere, all of them, whatever their case. */
    text?: string | null;
    /** Only what the person did, or only what others did. */
    who?: "agents" | "you" | null;
    format: "csv" | "ndjson";
  }

  /** `tool.describe`. */
  interface ToolNamed {
    tool: string;
  }

  /** `tool.run`: the person tries a tool. */
  interface ToolRun {
    tool: string;
    arguments: Record<string, unknown>;
    /** The server's own number of a tab, whoever it belongs to. */
    tabId?: number | null;
  }

  /** `client.revoke`: its token is void, its sessions and calls end, its grants are removed. */
  interface ClientRevoke {
    name: string;
  }

  /** `settings.set`; null removes the value from the file, so that the default applies. */
  interface SettingSet {
    key: string;
    value: unknown;
  }

  /** `plugin.logs`. */
  interface PluginLogsAsked {
    plugin: string;
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

  /** `tool.invocationStart`: a call was allowed and runs now. */
  interface InvocationStart {
    id: string;
    tool: string;
    title: string;
    plugin: string;
    /** Of the agent that made the call. */
    session: string;
    client: string;
    /** What the agent calls itself; unverified. */
    agent: string;
    /** The server's own number of the tab. */
    tabId: number | null;
    /** When the call arrived, in milliseconds since 1970; it may have waited for the person. */
    startedAt: number;
  }

  /** `confirmation.closed`: the call no longer waits. */
  interface ConfirmationClosed {
    id: string;
    outcome: "allowed" | "cancelled" | "denied" | "timeout" | "unavailable";
  }

  /** `confirmation.missed`: a call was refused because no person could be asked. */
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
    /** Outline in the page what a waiting call would be done to, or no longer; `not_found` if the call no longer waits. It ends by itself with the call, and when no panel is open. Pictures and readings of the page never have it. */
    "confirmation.outline": { params: ConfirmationOutline; result: Nothing };
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
    /** The calls that have ended since the server began, at most 100. */
    "calls.recent": { params: Nothing; result: RecentCalls };
    /** End a running call, with `cancelled_by_person` for the agent; `not_found` if it has ended. */
    "call.cancel": { params: CallCancel; result: Nothing };
    /** A page of the audit log, newest first: calls of agents, and what the person did. */
    "audit.list": { params: AuditList; result: AuditRows };
    /** The same as a part of a file: the entries as they are kept, one JSON object a line, or a table. Ask again with `before` until `next` is null. */
    "audit.export": { params: AuditExport; result: AuditText };
    /** A tool with the schema of its arguments. */
    "tool.describe": { params: ToolNamed; result: ToolDescribed };
    /** The person tries a tool, in any tab. No question is asked; rules that forbid the tool or the site, and reviews of plugins, apply as to agents. */
    "tool.run": { params: ToolRun; result: ToolRan };
    /** The clients, and the commands that connect agents. */
    "clients.list": { params: Nothing; result: ClientList };
    /** Revoke the token of a client; `not_found` if there is none. */
    "client.revoke": { params: ClientRevoke; result: Nothing };
    /** The settings that the panel can change. */
    "settings.list": { params: Nothing; result: SettingList };
    /** Change a setting in `config.json`; a value with which the server could not start is refused, and nothing changes. */
    "settings.set": { params: SettingSet; result: SettingOutcome };
    /** What a plugin has logged. */
    "plugin.logs": { params: PluginLogsAsked; result: PluginLogLines };
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
