/** The commands of the link. Written by `make docs` from src/tabhub/wire/commands. */
// prettier-ignore
declare namespace Wire {
  /** `tool.dispatch`: run one command. */
  interface Dispatch {
    plugin: string;
    tool: string;
    input: unknown;
    tabId: number | null;
    dispatchId: string;
    /** The site that the permission is for; on any other site the command must not run. */
    site?: string | null;
    /** Whether the extension must ask (`frames.allowed`) before it enters frames of other sites. */
    frames?: boolean;
    /** Whether a script may produce the input where the debugger cannot be used. */
    untrusted?: boolean;
  }

  /** A plugin whose code the extension may run in pages, until the server says otherwise. */
  interface PluginCode {
    name: string;
    version: string;
    urlPatterns: string[];
    excludePatterns: string[];
    /** The digest of the adapter's bytes, SHA-256 in hex; its file is `adapters/NAME-DIGEST.js`. */
    adapter: string;
    /** The digest of the script that runs when a document starts. */
    preScript: string | null;
    /** What pages get, without the settings of type url. */
    settings: Record<string, unknown>;
    /** The settings of type url: addresses by the name of the instance. */
    urls: Record<string, Record<string, string>>;
  }

  /** Whether a plugin can be used in a tab, and if not, why. */
  interface PluginTab {
    tabId: number;
    plugin: string;
    ready: boolean;
    reason?: "needs_reload" | "not_injected" | "not_ready" | "threw" | "timed_out";
    message?: string;
  }

  /** Nothing. */
  interface NoInput {
  }

  /** All tabs, and all open dialogs, file choosers included. */
  interface TabList {
    tabs: Tab[];
    dialogs: TabDialog[];
  }

  /** A tab, with Chrome's number. URLs are cut at 2,000 characters, titles at 500. */
  interface Tab {
    tabId: number;
    url: string;
    title: string;
    active: boolean;
    windowId: number;
    index: number;
    status: "complete" | "loading" | "unloaded";
    groupId?: number;
    focusedWindow: boolean;
  }

  /** A dialog, with its tab. */
  interface TabDialog {
    type: "alert" | "beforeunload" | "confirm" | "file_chooser" | "http_auth" | "prompt";
    message: string;
    defaultPrompt?: string;
    /** Whether a file chooser accepts several files. */
    multiple?: boolean;
    /** The document that opened it. */
    url?: string;
    origin?: string;
    realm?: string;
    scheme?: string;
    tabId: number;
  }

  /** The URL, and the window. */
  interface OpenTab {
    url: string;
    active?: boolean;
    windowId?: number;
    /** Opens the tab in a new window. */
    window?: NewWindow;
    group?: AgentGroup | null;
    /** No script in the page's own world, and no debugger until a command needs it. */
    stealth?: boolean;
    timeoutMs?: number;
  }

  /** Options of a new window; only a `normal` window can have a size. */
  interface NewWindow {
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    state?: "fullscreen" | "maximized" | "minimized" | "normal";
    incognito?: boolean;
  }

  /** The tab group of an agent. A tab joins the group `groupId` if that is still in the tab's window; otherwise a new group is created in that window. No tab is activated or moved to another window. */
  interface AgentGroup {
    title: string;
    color: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    groupId?: number;
  }

  /** The new tab; without `groupId` if tabs cannot be grouped. */
  interface OpenedTab {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
    /** Set if the page shows nothing yet, or because the browser does not draw the tab. */
    undrawn?: "background" | "yet";
    groupId?: number;
    window?: Window;
    /** Set if the page waits for HTTP authentication. */
    dialog?: Dialog;
  }

  /** A window; the size is that of the whole window, `viewport` that of its page. */
  interface Window {
    windowId: number;
    state?: string;
    type?: string;
    focused: boolean;
    incognito: boolean;
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    tabIds: number[];
    viewport?: Size;
  }

  /** A size, in CSS pixels. */
  interface Size {
    width: number;
    height: number;
  }

  /** An open dialog; `origin`, `realm` and `scheme` belong to HTTP authentication, `url` to the dialogs of a page. */
  interface Dialog {
    type: "alert" | "beforeunload" | "confirm" | "file_chooser" | "http_auth" | "prompt";
    message: string;
    defaultPrompt?: string;
    /** Whether a file chooser accepts several files. */
    multiple?: boolean;
    /** The document that opened it. */
    url?: string;
    origin?: string;
    realm?: string;
    scheme?: string;
  }

  /** The tab that was closed. */
  interface ClosedTab {
    closed: number;
    /** With this id `sessions.restore` can reopen it. */
    sessionId?: string;
  }

  /** The page in a tab. */
  interface TabPage {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
  }

  /** A tab, with what is emulated in it and its open dialog. */
  interface TabInfo {
    tabId: number;
    url: string;
    title: string;
    active: boolean;
    windowId: number;
    index: number;
    status: "complete" | "loading" | "unloaded";
    groupId?: number;
    focusedWindow: boolean;
    emulated: Emulated;
    dialog?: Dialog;
  }

  /** Everything that is emulated in a tab. */
  interface Emulated {
    device?: EmulatedDevice;
    geolocation?: EmulatedPlace;
    media?: EmulatedMedia[];
    vision?: string;
    network?: EmulatedLine;
  }

  /** The screen that is emulated. */
  interface EmulatedDevice {
    width: number;
    height: number;
    deviceScaleFactor: number;
    mobile: boolean;
    userAgent?: string;
  }

  /** The geolocation that is emulated. */
  interface EmulatedPlace {
    latitude: number;
    longitude: number;
    accuracy: number;
  }

  /** A CSS media feature. */
  interface EmulatedMedia {
    name: string;
    value: string;
  }

  /** A network connection; throughput in bytes per second, -1 for no limit. */
  interface EmulatedLine {
    offline: boolean;
    latency: number;
    downloadThroughput: number;
    uploadThroughput: number;
  }

  /** The group that the tab joins. */
  interface GroupTab {
    group: AgentGroup;
  }

  /** The tab's group; missing if tabs cannot be grouped. */
  interface GroupedTab {
    groupId?: number;
  }

  /** Nothing. */
  interface NoOutput {
  }

  /** The destination. */
  interface NavigateTab {
    /** A URL, or `back`, `forward` or `reload`. */
    url: string;
    timeoutMs?: number;
  }

  /** The page in the tab now. */
  interface NavigatedTab {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
    /** Set if the page shows nothing yet, or because the browser does not draw the tab. */
    undrawn?: "background" | "yet";
    /** Set if the page waits for HTTP authentication. */
    dialog?: Dialog;
    /** Intercepted requests that the page waits for. */
    waiting?: WaitingRequest[];
  }

  /** An intercepted request that waits. Long URLs and headers are cut. */
  interface WaitingRequest {
    requestId: string;
    url: string;
    method: string;
    resourceType: string;
    headers: Record<string, string>;
    postData?: string;
    since: number;
  }

  /** All windows. */
  interface WindowList {
    windows: Window[];
  }

  /** The changes of a window. */
  interface UpdateWindow {
    windowId: number;
    /** The numbers of the caller's tabs; a window with any other tab is not changed. */
    own: number[];
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    state?: "fullscreen" | "maximized" | "minimized" | "normal";
    focused?: boolean;
    /** The number of a tab whose page size is returned. */
    page?: number;
  }

  /** The window as it is now. */
  interface UpdatedWindow {
    windowId: number;
    state?: string;
    type?: string;
    focused: boolean;
    incognito: boolean;
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    tabIds: number[];
    viewport?: Size;
    /** The page size of the requested tab; its last size if it is in the background. */
    page?: Size;
  }

  /** The window to close. */
  interface CloseWindow {
    windowId: number;
    /** The numbers of the caller's tabs; a window with any other tab is not changed. */
    own: number[];
  }

  /** The window that was closed. */
  interface ClosedWindow {
    closed: number;
  }

  /** The window; default all windows. */
  interface ListGroups {
    windowId?: number;
  }

  /** The tab groups. */
  interface GroupList {
    groups: TabGroup[];
  }

  /** A tab group. */
  interface TabGroup {
    groupId: number;
    title: string;
    color: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    collapsed: boolean;
    windowId: number;
    tabIds: number[];
  }

  /** The tabs, all in one window, and the group's appearance. */
  interface CreateGroup {
    tabIds: number[];
    /** The numbers of the caller's tabs; no other tab is grouped. */
    own: number[];
    title?: string;
    color?: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
  }

  /** The tabs, and the group that they join. */
  interface AddToGroup {
    groupId: number;
    tabIds: number[];
    own: number[];
  }

  /** The tabs that leave their groups. */
  interface RemoveFromGroup {
    tabIds: number[];
    own: number[];
  }

  /** The tabs that left their groups. */
  interface RemovedFromGroup {
    tabIds: number[];
  }

  /** The changes of a group. */
  interface UpdateGroup {
    groupId: number;
    own: number[];
    title?: string;
    color?: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    collapsed?: boolean;
  }

  /** The largest number of sessions; default 25. */
  interface RecentSessions {
    maxResults?: number;
  }

  /** Closed tabs and windows, latest first. */
  interface ClosedSessions {
    sessions: ClosedSession[];
  }

  /** A closed tab, or a closed window with its tabs. */
  interface ClosedSession {
    sessionId: string;
    kind: "tab" | "window";
    closedAt: number;
    tabs: ClosedPage[];
  }

  /** A page in a closed tab. */
  interface ClosedPage {
    url: string;
    title: string;
  }

  /** The closed tab or window, and the group of the agent that gets it. */
  interface RestoreSession {
    sessionId: string;
    group: AgentGroup | null;
    timeoutMs: number;
  }

  /** The reopened tabs; without `groupId` if tabs cannot be grouped. */
  interface RestoredTabs {
    tabs: Tab[];
    groupId?: number;
  }

  /** The code; its value is that of the last expression. `return` and `await` are allowed. */
  interface Evaluate {
    code: string;
    timeoutMs?: number;
  }

  /** The value, as `JSON.stringify` writes it. */
  interface Evaluated {
    value: unknown;
  }

  /** A value that JSON cannot represent. */
  interface EvaluatedObject {
    value: null;
    description: string;
    /** Whether it is a node of the document. */
    isNode?: boolean;
  }

  /** The code threw. */
  interface EvaluationThrew {
    exception: Thrown;
  }

  /** An exception. */
  interface Thrown {
    message: string;
    stack: string;
  }

  /** The part of the page to read, and its format. */
  interface ReadPage {
    filter?: "all" | "interactive";
    depth?: number;
    /** Only this element and its descendants. */
    ref?: string | null;
    selector?: string;
    /** Words: only the part of the page that they are found in. */
    find?: string;
    maxChars?: number;
    offset?: number;
    /** The number of an earlier reading; only changes since then are returned, in its format. */
    since?: number | null;
    /** Whether to return the length of the whole text. */
    measure?: boolean;
  }

  /** The page as lines of text. */
  interface PageRead {
    url: string;
    title: string;
    /** Set if the document is not HTML. */
    contentType?: string;
    text: string;
    truncated: boolean;
    /** The `offset` of the rest. */
    next?: number;
    /** Set if `text` has only the lines added (`+`) or removed (`-`) since that reading. Otherwise that reading was of another document or is forgotten, and `text` is the whole page. */
    since?: number;
    /** With `measure`: the length of the whole text, in characters. */
    total?: number;
    /** With `measure`: whether the whole page was read. */
    whole?: boolean;
    /** The number of this reading. */
    read: number;
    /** How many elements were read; of a huge page, not all. */
    nodes: number;
    viewport: Size;
    /** Whether the page has too many elements or listeners to list which elements listen. */
    unlistened?: boolean;
  }

  /** A description of the elements in words. */
  interface FindElements {
    query: string;
    /** Default 20. */
    limit?: number;
  }

  /** Matches in all frames, best first. */
  interface FoundElements {
    matches: FoundElement[];
    total: number;
    /** If nothing matches: those that match in part. Older extensions do not look for them. */
    nearest?: FoundElement[];
    /** Whether the whole page was searched; a huge one is not. */
    whole: boolean;
    isLoading?: boolean;
    /** As in a reading. */
    unlistened?: boolean;
  }

  /** An element that matches. */
  interface FoundElement {
    ref: string;
    role: string;
    name: string;
    /** The type of an input. */
    type?: string;
    /** Its attributes and states as a reading lists them: value, checked, disabled and others. */
    state?: string;
    /** The text of the table row that it is in. */
    row?: string;
    /** The dialog or menu that shuts it off. */
    behind?: FoundTarget;
    /** Whether the page has shut it off although no dialog is open. */
    shutOff?: boolean;
    reason: string;
  }

  /** An element that was found, as results name it: what words meant, or what lies in front. */
  interface FoundTarget {
    ref: string;
    role: string;
    name: string;
  }

  /** An element, by `ref` or by `selector`. */
  interface Named {
    ref?: string;
    selector?: string;
  }

  /** What identifies an element in a later visit. */
  interface ElementAndView {
    viewport: Size;
    role: string;
    name: string;
    /** A selector that matches only this element. */
    selector?: string;
  }

  /** The size of the viewport, if no element was given. */
  interface View {
    viewport: Size;
  }

  /** An element as `page.describe` described it. */
  interface LocateElement {
    selector?: string;
    role: string;
    name: string;
    timeoutMs?: number;
  }

  /** The element's ref now. */
  interface LocatedElement {
    ref: string;
  }

  /** By selector; with `ref`, inside that element. `ref` alone is the element itself. */
  interface QueryElements {
    selector?: string;
    ref?: string;
    /** Default 100. */
    limit?: number;
    /** The attributes to return; default the most useful ones. */
    attributes?: string[];
  }

  /** Elements of all frames, the main frame first. */
  interface QueriedElements {
    elements: Element[];
    total: number;
  }

  /** An element of the page. Texts are cut at 200 characters, attributes at 500. */
  interface Element {
    ref: string;
    tag: string;
    text: string;
    attributes: Record<string, string>;
  }

  /** An element; default the whole page. */
  interface ReadPiece {
    ref?: string;
    selector?: string;
    /** Words: the part of the page that they are found in. */
    find?: string;
    maxChars?: number;
    offset?: number;
  }

  /** The text, with that of frames in their place. */
  interface PieceRead {
    url: string;
    title: string;
    /** Set if the document is not HTML. */
    contentType?: string;
    /** The tag name of the element that was read. */
    source: string;
    text: string;
    truncated: boolean;
    /** The `offset` of the rest. */
    next?: number;
  }

  /** By `selector` or `find` in all frames, also in documents that load meanwhile; or by `ref`. */
  interface WaitForElement {
    ref?: string;
    selector?: string;
    /** Words, all of which the element must have. */
    find?: string;
    /** Default 10,000. */
    timeoutMs?: number;
    visible?: boolean;
  }

  /** The element that was found. */
  interface AwaitedElement {
    element: SeenElement;
  }

  /** An element, and whether it is visible. */
  interface SeenElement {
    ref: string;
    tag: string;
    text: string;
    attributes: Record<string, string>;
    visible: boolean;
  }

  /** The element and the properties. */
  interface ElementStyles {
    ref?: string;
    selector?: string;
    /** CSS properties; default the most useful ones. */
    properties?: string[];
  }

  /** The element's box and styles. */
  interface StyledElement {
    ref: string;
    tag: string;
    text: string;
    attributes: Record<string, string>;
    box: Box;
    styles: Record<string, string>;
  }

  /** A rectangle, in CSS pixels. */
  interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
  }

  /** The storage of the page's origin to read. */
  interface ReadStorage {
    storageType: "local" | "session";
    key?: string;
  }

  /** The entries that fit into a message, and their total number. */
  interface StorageRead {
    entries: [string, string][];
    total: number;
  }

  /** The type of files to list; default all. */
  interface ListResources {
    type?: string;
  }

  /** The files of all frames. */
  interface ResourceList {
    resources: Resource[];
    total: number;
  }

  /** A file that the page has loaded. */
  interface Resource {
    url: string;
    type: string;
    mimeType: string;
    size?: number;
    failed?: boolean;
  }

  /** The file to read. */
  interface ReadResource {
    url: string;
    /** Default 500,000. */
    maxChars?: number;
  }

  /** A file with its content. */
  interface ResourceRead {
    url: string;
    type: string;
    mimeType: string;
    size?: number;
    failed?: boolean;
    content: string;
    base64: boolean;
    length: number;
    truncated: boolean;
  }

  /** What a site is made of. No value of a cookie, a storage or a header is in it. */
  interface SiteAnalyzed {
    url: string;
    title: string;
    cookies: SiteCookie[];
    /** The names of elements of the page that have a token against forged requests. */
    csrf: string[];
    requests: SiteRequest[];
    /** Whether the tab is recorded; otherwise methods, bodies and headers are unknown. */
    recorded: boolean;
    frameworks: SiteFramework[];
    /** The names that the page has added to its window. */
    globals: string[];
    globalsTotal: number;
    localStorage: string[];
    sessionStorage: string[];
    databases: string[];
    forms: SiteForm[];
  }

  /** A cookie, without its value. */
  interface SiteCookie {
    name: string;
    httpOnly: boolean;
    secure: boolean;
  }

  /** A request of the page's scripts, without the values in it. */
  interface SiteRequest {
    /** Without the query. */
    url: string;
    /** Empty if only the page's timing data has the request. */
    method: string;
    type: string;
    mimeType?: string;
    /** The names in the query. */
    parameters: string[];
    /** The names of the body's own members, if it is JSON or a form. */
    members: string[];
    /** The operation of GraphQL; empty if it has no name. */
    operation?: string;
    /** The headers that identify the person, without their values: `Authorization: Bearer`. */
    credentials: string[];
  }

  /** A framework that the page uses; the version is empty if the page does not say. */
  interface SiteFramework {
    name: string;
    version: string;
  }

  /** A form of the page. */
  interface SiteForm {
    /** Without the query. */
    action: string;
    method: string;
    name: string;
    fields: SiteField[];
  }

  /** A field of a form. */
  interface SiteField {
    name: string;
    type: string;
    required: boolean;
  }

  /** The element or point to click, and how. */
  interface Click {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
    /** How many ms to wait for the page to settle; default 1,000. */
    settle?: number;
    observe?: number;
    button?: "left" | "middle" | "right";
    clickCount?: number;
    /** `ctrl`, `shift`, `alt`, `meta`. */
    modifiers?: string[];
  }

  /** What a person has said yes to. */
  interface ConfirmedTarget {
    ref: string;
    role: string;
    name: string;
    /** Another number if the page has moved the element, or lets it lead elsewhere. */
    position?: number;
  }

  /** The effect of the click, and its point in the viewport. */
  interface Clicked {
    effect: Effect;
    /** Whether the events were trusted, as those of a person are. */
    trusted: boolean;
    /** Whether a script in the page made the events, since the debugger was not available. */
    byScript?: boolean;
    point?: Point;
  }

  /** The effect of an action. */
  interface Effect {
    /** The URL that the tab navigated to. */
    navigated?: string;
    /** Whether the document has changed. */
    mutated: boolean;
    /** The dialog that opened. */
    dialog?: Dialog;
    /** The number of a tab that was opened, in the background. */
    opened?: number;
    /** The download that started. */
    download?: BegunDownload;
    /** Set if it was asked for (`observe`), and the document is still there. */
    changes?: Changes;
    /** Whether the tab has closed, as a popup does after its last click. */
    closed?: boolean;
    /** The number of the tab that had opened the closed one. */
    opener?: number;
    /** Whether the tab goes to another page, which is not there yet. */
    leaving?: boolean;
    /** The scheme of the link that was followed, if another program opens such links. */
    outside?: string;
    /** Why the page that it led to could not be loaded. */
    unloaded?: string;
    /** What was acted on, if it was named by words (`find`). */
    found?: FoundTarget[];
  }

  /** A download that an action started: the name of the file, and its address after redirects. */
  interface BegunDownload {
    name: string;
    url: string;
  }

  /** What has changed in the document of an action, as lines of a reading. */
  interface Changes {
    /** `+` before lines that are new or different, `-` before those that are gone. */
    lines: string;
    /** Whether these are all of them. */
    whole: boolean;
    /** How many requests of the action still wait for a response. */
    pending?: number;
  }

  /** A point, in CSS pixels. */
  interface Point {
    x: number;
    y: number;
  }

  /** The element or point, which may be disabled. */
  interface Hover {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
    /** How many ms to wait for the page to settle; default 1,000. */
    settle?: number;
    observe?: number;
  }

  /** The effect of the action. */
  interface Acted {
    effect: Effect;
    /** Whether the events were trusted, as those of a person are. */
    trusted: boolean;
    /** Whether a script in the page made the events, since the debugger was not available. */
    byScript?: boolean;
  }

  /** The text; it replaces the content unless `clear` is false. */
  interface Fill {
    ref?: string;
    selector?: string;
    settle?: number;
    observe?: number;
    find?: string;
    /** As in `Place`. */
    confirmed?: ConfirmedTarget;
    text: string;
    clear?: boolean;
  }

  /** The effect on the field. Errors about a sensitive field have `data.sensitive`. */
  interface Filled {
    effect: FieldEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
  }

  /** The effect, and the field's value afterwards. */
  interface FieldEffect {
    /** The URL that the tab navigated to. */
    navigated?: string;
    /** Whether the document has changed. */
    mutated: boolean;
    /** The dialog that opened. */
    dialog?: Dialog;
    /** The number of a tab that was opened, in the background. */
    opened?: number;
    /** The download that started. */
    download?: BegunDownload;
    /** Set if it was asked for (`observe`), and the document is still there. */
    changes?: Changes;
    /** Whether the tab has closed, as a popup does after its last click. */
    closed?: boolean;
    /** The number of the tab that had opened the closed one. */
    opener?: number;
    /** Whether the tab goes to another page, which is not there yet. */
    leaving?: boolean;
    /** The scheme of the link that was followed, if another program opens such links. */
    outside?: string;
    /** Why the page that it led to could not be loaded. */
    unloaded?: string;
    /** What was acted on, if it was named by words (`find`). */
    found?: FoundTarget[];
    /** Dots for a sensitive field. */
    value?: string;
  }

  /** The options to select, by value or by label; all others are deselected. */
  interface Select {
    ref?: string;
    selector?: string;
    settle?: number;
    observe?: number;
    find?: string;
    /** As in `Place`. */
    confirmed?: ConfirmedTarget;
    value?: string | string[];
    label?: string | string[];
  }

  /** The value: a text, an option by value or label, or whether a box is checked. */
  interface SetField {
    ref?: string;
    selector?: string;
    settle?: number;
    observe?: number;
    find?: string;
    /** As in `Place`. */
    confirmed?: ConfirmedTarget;
    value: string | number | boolean;
  }

  /** The effect on the field, and its value before; `true` or `false` for a box. */
  interface FieldSet {
    effect: FieldEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
    before: string;
  }

  /** Keys for the element, or for the one that has the focus. */
  interface Press {
    ref?: string;
    selector?: string;
    settle?: number;
    observe?: number;
    find?: string;
    /** As in `Place`. */
    confirmed?: ConfirmedTarget;
    /** A key or chord (`Enter`, `ctrl+a`), or several separated by spaces. */
    key: string;
    modifiers?: string[];
    repeat?: number;
  }

  /** The effect of the keys. */
  interface Pressed {
    effect: KeyEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
  }

  /** The effect; `value` is that of the field that has the focus afterwards. */
  interface KeyEffect {
    /** The URL that the tab navigated to. */
    navigated?: string;
    /** Whether the document has changed. */
    mutated: boolean;
    /** The dialog that opened. */
    dialog?: Dialog;
    /** The number of a tab that was opened, in the background. */
    opened?: number;
    /** The download that started. */
    download?: BegunDownload;
    /** Set if it was asked for (`observe`), and the document is still there. */
    changes?: Changes;
    /** Whether the tab has closed, as a popup does after its last click. */
    closed?: boolean;
    /** The number of the tab that had opened the closed one. */
    opener?: number;
    /** Whether the tab goes to another page, which is not there yet. */
    leaving?: boolean;
    /** The scheme of the link that was followed, if another program opens such links. */
    outside?: string;
    /** Why the page that it led to could not be loaded. */
    unloaded?: string;
    /** What was acted on, if it was named by words (`find`). */
    found?: FoundTarget[];
    /** Dots for a sensitive field. */
    value?: string;
    /** The element that the focus moved to. */
    focused?: string;
    /** What got the last key, if that is no field and keeps the focus; empty: nothing has it. */
    receivedBy?: string;
    /** How many characters the page kept from being written, if none were. */
    prevented?: number;
  }

  /** Text for the element that has the focus; a line break presses Enter. */
  interface Type {
    text: string;
    settle?: number;
    observe?: number;
    /** As in `Place`, for the element that has the focus. */
    confirmed?: ConfirmedTarget;
  }

  /** What to scroll, and how far. By default the page. With an element, what scrolls around it; with an element and nothing else, the element is scrolled into view. At a point, the wheel is turned by `distance`. */
  interface Scroll {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
    /** How many ms to wait for the page to settle; default 1,000. */
    settle?: number;
    observe?: number;
    /** A selector of the scrolling element. */
    container?: string;
    direction?: "down" | "left" | "right" | "up";
    distance?: number;
    position?: ScrollTarget;
  }

  /** A position to scroll to. */
  interface ScrollTarget {
    x?: number;
    y?: number;
  }

  /** The effect of scrolling. */
  interface Scrolled {
    effect: ScrollEffect;
    trusted: boolean;
    byScript?: boolean;
    /** Whether the wheel was turned, since there is no scrolling element. */
    wheel: boolean;
  }

  /** The effect; without `moved` and `position` if a dialog opened. */
  interface ScrollEffect {
    /** The URL that the tab navigated to. */
    navigated?: string;
    /** Whether the document has changed. */
    mutated: boolean;
    /** The dialog that opened. */
    dialog?: Dialog;
    /** The number of a tab that was opened, in the background. */
    opened?: number;
    /** The download that started. */
    download?: BegunDownload;
    /** Set if it was asked for (`observe`), and the document is still there. */
    changes?: Changes;
    /** Whether the tab has closed, as a popup does after its last click. */
    closed?: boolean;
    /** The number of the tab that had opened the closed one. */
    opener?: number;
    /** Whether the tab goes to another page, which is not there yet. */
    leaving?: boolean;
    /** The scheme of the link that was followed, if another program opens such links. */
    outside?: string;
    /** Why the page that it led to could not be loaded. */
    unloaded?: string;
    /** What was acted on, if it was named by words (`find`). */
    found?: FoundTarget[];
    moved?: boolean;
    position?: ScrollPosition;
  }

  /** The scroll position, and its maximum. */
  interface ScrollPosition {
    x: number;
    y: number;
    maxX: number;
    maxY: number;
  }

  /** Start and end; data that the page attaches to the drag is dropped at the end. */
  interface Drag {
    from: Place;
    to: Place;
    modifiers?: string[];
    settle?: number;
    observe?: number;
  }

  /** An element, or a point; a point means the topmost element there, in any frame. */
  interface Place {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
  }

  /** The effect of dragging. */
  interface Dragged {
    effect: Effect;
    /** Whether the events were trusted, as those of a person are. */
    trusted: boolean;
    /** Whether a script in the page made the events, since the debugger was not available. */
    byScript?: boolean;
    path: DragPath;
  }

  /** Start and end in the viewport. */
  interface DragPath {
    start: Point;
    end: Point;
  }

  /** The answer to the open dialog. */
  interface AnswerDialog {
    action: "accept" | "dismiss";
    /** Default: the prompt's own text. For HTTP authentication `user:password`. */
    promptText?: string;
    /** What a person was asked about: if the page shows another dialog now, nothing is done (`target_changed`). */
    confirmed?: ConfirmedDialog;
    settle?: number;
    observe?: number;
  }

  /** A dialog that a person is asked about: what tells it from others. */
  interface ConfirmedDialog {
    type: "alert" | "beforeunload" | "confirm" | "file_chooser" | "http_auth" | "prompt";
    message: string;
    defaultPrompt?: string;
  }

  /** The effect of the action that the dialog had interrupted. */
  interface AnsweredDialog {
    effect: Effect;
    answered: Dialog;
    trusted: boolean;
  }

  /** Files for a file input, or to be dropped on an element; without a target, for the open file chooser. */
  interface Upload {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
    /** How many ms to wait for the page to settle; default 1,000. */
    settle?: number;
    observe?: number;
    files: FileToGive[];
  }

  /** A file of the server; the extension gets its bytes with `files.read`. */
  interface FileToGive {
    name: string;
    mimeType: string;
    size: number;
    /** Where the browser can read the file directly. */
    path?: string;
  }

  /** The effect of the upload. */
  interface Uploaded {
    effect: UploadEffect;
    trusted: boolean;
    /** Names of files that the input's `accept` does not include. */
    misfits?: string[];
  }

  /** The effect, and the files. */
  interface UploadEffect {
    /** The URL that the tab navigated to. */
    navigated?: string;
    /** Whether the document has changed. */
    mutated: boolean;
    /** The dialog that opened. */
    dialog?: Dialog;
    /** The number of a tab that was opened, in the background. */
    opened?: number;
    /** The download that started. */
    download?: BegunDownload;
    /** Set if it was asked for (`observe`), and the document is still there. */
    changes?: Changes;
    /** Whether the tab has closed, as a popup does after its last click. */
    closed?: boolean;
    /** The number of the tab that had opened the closed one. */
    opener?: number;
    /** Whether the tab goes to another page, which is not there yet. */
    leaving?: boolean;
    /** The scheme of the link that was followed, if another program opens such links. */
    outside?: string;
    /** Why the page that it led to could not be loaded. */
    unloaded?: string;
    /** What was acted on, if it was named by words (`find`). */
    found?: FoundTarget[];
    files?: ReceivedFile[];
  }

  /** A file that the page has received. */
  interface ReceivedFile {
    name: string;
    size: number;
  }

  /** What an action names: one place, or two for a drag. */
  interface SeekTargets {
    places: SoughtTarget[];
  }

  /** What an action names. */
  interface SoughtTarget {
    ref?: string;
    selector?: string;
    /** Together with `y`, a point in the viewport. */
    x?: number;
    y?: number;
    /** Together with `pageY`, a point on the page. */
    pageX?: number;
    pageY?: number;
    /** The element, by words; an error with candidates if no element is clearly meant. */
    find?: string;
    /** What a person was asked about: if it is another element now, has another name or was moved, nothing is done (`target_changed`). */
    confirmed?: ConfirmedTarget;
    /** What must take the action, if words name it. */
    kind?: "select" | "text";
  }

  /** The elements, in that order. */
  interface AskedTargets {
    targets: AskedTarget[];
  }

  /** The element there: at a point, the control that it belongs to. */
  interface AskedTarget {
    ref: string;
    role: string;
    name: string;
    /** Another number if the page has moved the element, or lets it lead elsewhere. */
    position?: number;
    /** Whether it is a field for a password or the like. */
    sensitive: boolean;
    /** The site of the frame that it is in, if that is not the page's. */
    site?: string;
  }

  /** What an action that names nothing is done to. */
  interface SeekReceiver {
    /** The element that has the focus, or the input whose file chooser is open. */
    of: "chooser" | "focus";
  }

  /** The elements to outline, in place of any others; none to outline nothing. */
  interface OutlineTargets {
    refs: string[];
    /** The outline ends by itself after this time. */
    milliseconds: number;
  }

  /** What to capture: an element, a region, the whole page or the viewport. */
  interface Capture {
    ref?: string;
    selector?: string;
    fullPage?: boolean;
    /** A part of the viewport, or of the page with `fullPage`. */
    region?: Region;
    format?: "jpeg" | "png";
    /** Default 80. */
    quality?: number;
    scale?: number;
    /** The longest side, in pixels; a larger picture is scaled down. */
    maxSide?: number;
  }

  /** A rectangle from an agent; the extension refuses an incomplete one. */
  interface Region {
    x?: number;
    y?: number;
    width?: number;
    height?: number;
  }

  /** A picture, in base64. */
  interface Captured {
    data: string;
    mimeType: string;
    width: number;
    height: number;
    /** Smaller than requested if the picture would be too large. */
    scale: number;
    /** In coordinates of the page. */
    region: Box;
    page: Size;
    viewport: Size;
  }

  /** Options for printing. */
  interface PrintPdf {
    landscape?: boolean;
    /** Default true. */
    printBackground?: boolean;
    scale?: number;
    pageRanges?: string;
  }

  /** The file, in base64. */
  interface PrintedPdf {
    data: string;
  }

  /** States such as `:hover`; an empty list ends them. */
  interface ForcePseudo {
    ref?: string;
    selector?: string;
    pseudoClasses: string[];
  }

  /** How many elements of the tab are in a forced state. */
  interface ForcedPseudo {
    forced: number;
  }

  /** Whether to stop recording. */
  interface CssCoverage {
    stop?: boolean;
  }

  /** The usage of each style sheet since a time. */
  interface CssUsage {
    since: number;
    sheets: SheetUsage[];
  }

  /** A style sheet, and how much of it is used. */
  interface SheetUsage {
    url: string;
    inline: boolean;
    totalBytes: number;
    usedBytes: number;
    rules: number;
    usedRules: number;
    /** Selectors of unused rules. */
    unused: string[];
  }

  /** The changes. */
  interface Emulate {
    set: EmulationChanges;
  }

  /** What to emulate; null ends an emulation. */
  interface EmulationChanges {
    device?: EmulatedDevice | null;
    geolocation?: EmulatedPlace | null;
    media?: EmulatedMedia[] | null;
    vision?: string | null;
    network?: EmulatedLine | null;
  }

  /** Everything that is emulated in the tab now. */
  interface EmulatedNow {
    emulated: Emulated;
  }

  /** A permission of the page's site, until the tab closes; only in a managed browser. */
  interface SetPermission {
    name: "camera" | "geolocation" | "microphone" | "notifications";
    setting: "allow" | "ask" | "block";
  }

  /** The permission as the page sees it. */
  interface PermissionNow {
    origin: string;
    state: "denied" | "granted" | "prompt" | "unknown";
  }

  /** The messages to return. */
  interface ReadConsole {
    level?: "all" | "debug" | "error" | "info" | "log" | "warn";
    /** A regular expression without lookaround. */
    pattern?: string;
    limit?: number;
    /** Whether `limit` counts from the end. */
    newest?: boolean;
    clear?: boolean;
  }

  /** The console messages. */
  interface ConsoleRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: ConsoleEntry[];
  }

  /** A console message, or an error. */
  interface ConsoleEntry {
    level: "debug" | "error" | "info" | "log" | "warn";
    /** `console`, `exception`, or the part of the browser that reported it. */
    source: string;
    time: number;
    text: string;
    /** The URL of the script. */
    url: string;
    line?: number;
    column?: number;
    /** The URL of the tab at that time. */
    page: string;
    /** Decides whether the caller may see the entry. */
    site: string;
  }

  /** The number of deleted messages. */
  interface ClearedConsole {
    cleared: number;
  }

  /** The requests to return, and how much of each. */
  interface ReadNetwork {
    /** A part of the URL. */
    urlPattern?: string;
    since?: number;
    limit?: number;
    /** Whether `limit` counts from the end. */
    newest?: boolean;
    headers?: boolean;
    /** How many characters of each response body. */
    bodies?: number;
    clear?: boolean;
  }

  /** The network requests. */
  interface NetworkRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: RecordedRequest[];
  }

  /** A request; each step of a redirect is a request of its own. */
  interface RecordedRequest {
    requestId: string;
    url: string;
    method: string;
    type: string;
    started: number;
    duration?: number;
    status?: number;
    statusText?: string;
    mimeType?: string;
    protocol?: string;
    remoteAddress?: string;
    /** Bytes transferred. */
    size?: number;
    /** Bytes after decompression. */
    bodySize?: number;
    fromCache?: boolean;
    /** The reason of the failure. */
    failed?: string;
    redirectedTo?: string;
    /** Whether it ended before the recording started, and comes from the page's own timing data. */
    fromTiming?: boolean;
    hasPostData?: boolean;
    /** The URL of the document. */
    page: string;
    /** Decides whether the caller may see the entry. */
    site: string;
    requestHeaders?: [string, string][];
    responseHeaders?: [string, string][];
    postData?: string;
    /** As the debugger reports it. */
    timing?: Record<string, number>;
    body?: Body;
  }

  /** A response body: `text` and `base64`, or why it is `unavailable`. */
  interface Body {
    text?: string;
    base64?: boolean;
    /** The full length, if the text was cut. */
    length?: number;
    unavailable?: string;
  }

  /** The request to return. */
  interface ReadRequest {
    requestId: string;
    /** How many characters of the response body. */
    body?: number;
  }

  /** The request with all details. */
  interface RequestRead {
    request: RecordedRequest;
  }

  /** The frames to return. */
  interface ReadSockets {
    urlPattern?: string;
    limit?: number;
    newest?: boolean;
    clear?: boolean;
  }

  /** The WebSocket frames. */
  interface SocketRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: SocketFrame[];
  }

  /** A frame of a WebSocket. */
  interface SocketFrame {
    requestId: string;
    url: string;
    direction: "received" | "sent";
    time: number;
    opcode: number;
    data: string;
    base64: boolean;
    /** The length of the whole payload. */
    length: number;
    site: string;
  }

  /** How many entries to keep; defaults come from `sync.full`. */
  interface StartRecording {
    consoleEntries?: number;
    networkEntries?: number;
    socketFrames?: number;
    /** Only requests whose URL contains this. */
    urlFilter?: string;
  }

  /** How many entries are kept; missing if the tab has just closed. */
  interface StartedRecording {
    sizes?: RecordingSizes;
  }

  /** How many entries are kept, and of which URLs. */
  interface RecordingSizes {
    consoleEntries: number;
    networkEntries: number;
    socketFrames?: number;
    urlFilter?: string;
  }

  /** URL patterns in the debugger's syntax. */
  interface StartIntercepting {
    urlPatterns: string[];
  }

  /** The patterns that are intercepted. */
  interface StartedIntercepting {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
    urlPatterns: string[];
    /** The sites whose requests may be intercepted; null for all. */
    sites: string[] | null;
  }

  /** A request that waited too long and was continued. */
  interface OverdueRequest {
    requestId: string;
    url: string;
    how: string;
  }

  /** How long to wait for a request if there is none. */
  interface ListIntercepted {
    timeoutMs?: number;
  }

  /** The requests that wait, and those that waited too long. */
  interface Intercepted {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
  }

  /** Answers the request; `body` is in base64. */
  interface FulfillRequest {
    requestId: string;
    how: "fulfill";
    status: number;
    headers?: Record<string, string>;
    body?: string;
  }

  /** Makes the request fail. */
  interface FailRequest {
    requestId: string;
    how: "fail";
    errorReason: string;
  }

  /** Continues the request, with changes if given; `body` is in base64. */
  interface ContinueRequest {
    requestId: string;
    how: "continue";
    url?: string;
    method?: string;
    headers?: Record<string, string>;
    /** Headers of the request that stay unchanged, even if `headers` has them. */
    keepHeaders?: string[];
    body?: string;
  }

  /** The request that was answered. */
  interface AnsweredRequest {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
    requestId: string;
  }

  /** How many waiting requests were continued. */
  interface StoppedIntercepting {
    continued: number;
  }

  /** The cookies that the browser would send to a URL. */
  interface NamedCookies {
    url: string;
    name?: string;
  }

  /** The cookies. */
  interface CookieList {
    cookies: Cookie[];
  }

  /** A cookie as Chrome describes it. */
  interface Cookie {
    name: string;
    value: string;
    domain: string;
    hostOnly: boolean;
    path: string;
    secure: boolean;
    httpOnly: boolean;
    sameSite: "lax" | "no_restriction" | "strict" | "unspecified";
    session: boolean;
    expirationDate?: number;
    storeId: string;
    partitionKey?: PartitionKey;
  }

  /** The top-level site of a partitioned cookie. */
  interface PartitionKey {
    topLevelSite?: string;
    hasCrossSiteAncestor?: boolean;
  }

  /** The cookie to set. */
  interface SetCookie {
    url: string;
    name: string;
    value: string;
    domain?: string;
    path?: string;
    secure?: boolean;
    httpOnly?: boolean;
    expirationDate?: number;
  }

  /** The cookie as it is now. */
  interface CookieSet {
    cookie: Cookie;
  }

  /** The number of deleted cookies. */
  interface DeletedCookies {
    deleted: number;
  }

  /** The origin, and the kinds of data. */
  interface ClearSiteData {
    origin: string;
    kinds: ("cache" | "cookies" | "indexedDB" | "localStorage" | "serviceWorkers")[];
  }

  /** The kinds of data that were cleared. */
  interface ClearedSiteData {
    cleared: ("cache" | "cookies" | "indexedDB" | "localStorage" | "serviceWorkers")[];
  }

  /** The URL to download, and where to save it. */
  interface StartDownload {
    url: string;
    filename?: string;
    /** Whether the browser asks the person where to save it. */
    saveAs?: boolean;
    timeoutMs?: number;
  }

  /** A download; `url` is the address after redirects. */
  interface Download {
    downloadId: number;
    state: "complete" | "in_progress" | "interrupted";
    path: string;
    url: string;
    bytesReceived: number;
    /** -1 if unknown. */
    totalBytes: number;
    mime: string;
    error?: string;
    url: string;
  }

  /** The downloads to list. */
  interface ListDownloads {
    query?: string;
    state?: "complete" | "in_progress" | "interrupted";
    limit: number;
    /** Leave out the person's own downloads. */
    onlyOurs: boolean;
  }

  /** Downloads, latest first. */
  interface DownloadList {
    downloads: Download[];
    total: number;
  }

  /** The download to describe. */
  interface DownloadStatus {
    downloadId: number;
    /** Leave out the person's own downloads. */
    onlyOurs: boolean;
  }

  /** The file; the extension gets its bytes with `files.read`. */
  interface SaveFile {
    file: FileToGive;
  }

  /** A file of the server, as a download. */
  interface SavedFile {
    downloadId: number;
    state: "complete" | "in_progress" | "interrupted";
    path: string;
    url: string;
    bytesReceived: number;
    /** -1 if unknown. */
    totalBytes: number;
    mime: string;
    error?: string;
  }

  /** Words, and a range of time, by default from the beginning. */
  interface SearchHistory {
    query: string;
    maxResults: number;
    startTime?: number;
    endTime?: number;
  }

  /** Visited pages, latest first. */
  interface VisitedPages {
    pages: VisitedPage[];
  }

  /** A page that was visited. */
  interface VisitedPage {
    url: string;
    title: string;
    lastVisitTime: number;
    visitCount: number;
    typedCount: number;
  }

  /** The page. */
  interface ListVisits {
    url: string;
  }

  /** Visits, latest first. */
  interface VisitList {
    visits: Visit[];
  }

  /** One visit to a page. */
  interface Visit {
    visitId: string;
    visitTime: number;
    transition: string;
    referringVisitId?: string;
  }

  /** Words to search for. */
  interface SearchBookmarks {
    query: string;
  }

  /** The bookmarks that match. */
  interface FoundBookmarks {
    bookmarks: Bookmark[];
  }

  /** A bookmark; a folder if it has no URL. */
  interface Bookmark {
    id: string;
    title: string;
    parentId?: string;
    url?: string;
    dateAdded?: number;
  }

  /** The bookmark, and its folder. */
  interface CreateBookmark {
    title: string;
    url: string;
    parentId?: string;
  }

  /** The folder, by default all, and the depth. */
  interface ListBookmarks {
    parentId?: string;
    maxDepth: number;
  }

  /** Bookmarks and folders. */
  interface BookmarkTree {
    tree: BookmarkNode[];
  }

  /** A bookmark, or a folder with its children; at the largest depth, only with their number. */
  interface BookmarkNode {
    id: string;
    title: string;
    parentId?: string;
    url?: string;
    dateAdded?: number;
    children?: BookmarkNode[];
    childCount?: number;
  }

  /** The state of the extension: numbers only, no URLs. */
  interface ExtensionState {
    version: string;
    startedAt: number;
    tabs: number;
    connectedTabs: number;
    debuggedTabs: number[];
    /** Why the debugger stays attached, by tab number. */
    heldTabs: Record<string, string[]>;
    dialogTabs: number[];
    panels: number;
  }

  /** The lines to return. */
  interface ReadLogs {
    level?: "all" | "error" | "info" | "log" | "warn";
    source?: "all" | "background" | "offscreen";
    limit?: number;
    since?: number;
  }

  /** The latest lines that match, oldest first. */
  interface LogLines {
    entries: LogLine[];
    total: number;
  }

  /** A line of the log, with names of commands, reasons and tab numbers only. */
  interface LogLine {
    time: number;
    level: "error" | "info" | "log" | "warn";
    source: "background";
    message: string;
  }

  /** The number of open panels, and of those in tabs. */
  interface PanelState {
    panels: number;
    inTabs: number;
  }

  /** The notification. */
  interface ShowNotice {
    agent: string;
    title: string;
    message: string;
    contextMessage?: string;
    /** A `data:` URL of a picture. */
    iconUrl?: string;
    requireInteraction?: boolean;
    /** The URL that a click opens. */
    url?: string;
  }

  /** The notification is shown. */
  interface ShownNotice {
    shown: true;
  }

  /** A request with the page's session. */
  interface PluginFetch {
    /** Absolute, or relative to the page. */
    url: string;
    /** Match patterns; the address must match one, also after redirects. */
    allowed: string[];
    /** Default GET. */
    method?: string;
    headers?: Record<string, string>;
    body?: string;
    /** In the place of `body`: bytes. */
    bodyBase64?: string;
    /** Whether `plugin.fetchRead` gets the body. */
    stream?: boolean;
  }

  /** The response with its body. `url` is the address after redirects. */
  interface PluginResponse {
    status: number;
    url: string;
    headers: Record<string, string>;
    bodyBase64: string;
  }

  /** The response without its body. */
  interface PluginResponseStream {
    status: number;
    url: string;
    headers: Record<string, string>;
    stream: string;
  }

  /** A stream of `plugin.fetch`. */
  interface PluginStream {
    stream: string;
  }

  /** The next bytes, at most 256 KB; empty only at the end. */
  interface PluginStreamPiece {
    bodyBase64: string;
    done: boolean;
  }

  /** A CSS selector. */
  interface PluginSelector {
    selector: string;
  }

  /** Whether something matches now; so after waiting with `gone`, false is what was wanted. */
  interface PluginFound {
    found: boolean;
  }

  /** What to wait for. */
  interface PluginWait {
    selector: string;
    /** Wait until nothing matches. */
    gone?: boolean;
    /** Default 10,000. */
    timeoutMs?: number;
  }

  /** An action on the page's local or session storage. */
  interface PluginStorage {
    area: "local" | "session";
    action: "get" | "keys" | "remove" | "set";
    key?: string;
    value?: string;
  }

  /** The value of the key after the action; null if there is none. */
  interface PluginStored {
    value: string | null;
  }

  /** All keys. */
  interface PluginStorageKeys {
    keys: string[];
  }

  /** A script of a plugin. */
  interface PluginRun {
    plugin: string;
    /** The digest of its bytes, SHA-256 in hex; its file is `adapters/PLUGIN-DIGEST.js`. */
    script: string;
    args?: unknown[];
  }

  /** What the script has returned. */
  interface PluginRan {
    value: unknown;
  }

  interface Commands {
    /** Lists the browser's tabs. */
    "tabs.list": { input: NoInput; output: TabList };
    /** Opens a tab, in the background unless `active`, and waits until it has loaded. */
    "tabs.open": { input: OpenTab; output: OpenedTab };
    /** Closes the tab. */
    "tabs.close": { input: NoInput; output: ClosedTab };
    /** Brings the tab and its window to the front. */
    "tabs.focus": { input: NoInput; output: TabPage };
    /** Describes the tab. */
    "tabs.info": { input: NoInput; output: TabInfo };
    /** Adds the tab to the group of its agent. */
    "tabs.group": { input: GroupTab; output: GroupedTab };
    /** Removes the tab from its group and releases it, since its agent has left it. */
    "tabs.ungroup": { input: NoInput; output: NoOutput };
    /** Ends what an agent started in the tab: emulation, interception, forced states, recording. */
    "tabs.release": { input: NoInput; output: NoOutput };
    /** Navigates and waits for the page to load; reports progress at commit, DOM and load. */
    "tabs.navigate": { input: NavigateTab; output: NavigatedTab };
    /** Lists the windows. */
    "windows.list": { input: NoInput; output: WindowList };
    /** Moves, resizes or focuses a window, or changes its state. */
    "windows.update": { input: UpdateWindow; output: UpdatedWindow };
    /** Closes a window and its tabs. */
    "windows.close": { input: CloseWindow; output: ClosedWindow };
    /** Lists the tab groups. */
    "groups.list": { input: ListGroups; output: GroupList };
    /** Creates a tab group. */
    "groups.create": { input: CreateGroup; output: TabGroup };
    /** Adds tabs to a group. */
    "groups.add": { input: AddToGroup; output: TabGroup };
    /** Removes tabs from their groups. */
    "groups.remove": { input: RemoveFromGroup; output: RemovedFromGroup };
    /** Changes the title or color of a group, or collapses it. */
    "groups.update": { input: UpdateGroup; output: TabGroup };
    /** Lists recently closed tabs and windows. */
    "sessions.recent": { input: RecentSessions; output: ClosedSessions };
    /** Reopens a closed tab or window in the background, and waits until it has loaded. */
    "sessions.restore": { input: RestoreSession; output: RestoredTabs };
    /** Runs code in the page, whatever its content security policy. */
    "page.evaluate": { input: Evaluate; output: Evaluated | EvaluatedObject | EvaluationThrew };
    /** Reads the page as a tree of elements. */
    "page.read": { input: ReadPage; output: PageRead };
    /** Finds elements by words. */
    "page.find": { input: FindElements; output: FoundElements };
    /** Describes an element so that `page.locate` can find it later. */
    "page.describe": { input: Named; output: ElementAndView | View };
    /** Waits for an element that was described before; `element_not_found` if there is none or more than one. */
    "page.locate": { input: LocateElement; output: LocatedElement };
    /** Lists elements. */
    "page.query": { input: QueryElements; output: QueriedElements };
    /** Reads text: of the element, else of the article or main element if there is one. */
    "page.text": { input: ReadPiece; output: PieceRead };
    /** Reads HTML. */
    "page.html": { input: ReadPiece; output: PieceRead };
    /** Waits for an element; `stale_ref` if an element given by `ref` is removed. */
    "page.wait": { input: WaitForElement; output: AwaitedElement };
    /** Reads the styles of an element. */
    "page.styles": { input: ElementStyles; output: StyledElement };
    /** Reads the local or session storage of the page. */
    "page.storage": { input: ReadStorage; output: StorageRead };
    /** Lists the files that the page has loaded. */
    "page.resources": { input: ListResources; output: ResourceList };
    /** Reads one of these files. */
    "page.resource": { input: ReadResource; output: ResourceRead };
    /** Describes what a site is made of, without the debugger. */
    "site.analyze": { input: NoInput; output: SiteAnalyzed };
    /** Clicks an element or a point. */
    "page.click": { input: Click; output: Clicked };
    /** Moves the mouse over an element or a point. */
    "page.hover": { input: Hover; output: Acted };
    /** Writes into a field. */
    "page.fill": { input: Fill; output: Filled };
    /** Selects options. */
    "page.select": { input: Select; output: Filled };
    /** Sets the value of a field of any kind. */
    "page.set": { input: SetField; output: FieldSet };
    /** Presses keys. */
    "page.press": { input: Press; output: Pressed };
    /** Types text with keys; inserts characters without a key, and long text. */
    "page.type": { input: Type; output: Pressed };
    /** Scrolls the page or an element. */
    "page.scroll": { input: Scroll; output: Scrolled };
    /** Drags from one place to another. */
    "page.drag": { input: Drag; output: Dragged };
    /** Answers a dialog. */
    "page.dialog": { input: AnswerDialog; output: AnsweredDialog };
    /** Gives files to the page. */
    "page.upload": { input: Upload; output: Uploaded };
    /** Finds what an action would be done to, so that a person can be asked about it; acts on nothing and attaches nothing. */
    "page.target": { input: SeekTargets; output: AskedTargets };
    /** Finds what keys or files would go to that name no element, so that a person can be asked about it; acts on nothing and attaches nothing. */
    "page.receiver": { input: SeekReceiver; output: AskedTarget };
    /** Says which dialog would be answered, so that a person can be asked about it. */
    "page.shownDialog": { input: NoInput; output: ConfirmedDialog };
    /** Outlines elements for the person. While another command runs in the tab, there is no outline. */
    "page.outline": { input: OutlineTargets; output: NoOutput };
    /** Takes a screenshot. */
    "page.capture": { input: Capture; output: Captured };
    /** Prints the page to PDF. */
    "page.pdf": { input: PrintPdf; output: PrintedPdf };
    /** Forces an element into a state, until another document loads or the agent leaves. */
    "page.pseudo": { input: ForcePseudo; output: ForcedPseudo };
    /** Records which CSS rules are used, from the first call on. */
    "page.coverage": { input: CssCoverage; output: CssUsage };
    /** Emulates a device, a location, media features or a network. */
    "page.emulate": { input: Emulate; output: EmulatedNow };
    /** Sets a permission of the page's site. */
    "page.permission": { input: SetPermission; output: PermissionNow };
    /** Returns recorded console messages. */
    "record.console": { input: ReadConsole; output: ConsoleRecord };
    /** Deletes recorded console messages. */
    "record.clearConsole": { input: NoInput; output: ClearedConsole };
    /** Returns recorded requests. */
    "record.network": { input: ReadNetwork; output: NetworkRecord };
    /** Returns all details of one request. */
    "record.request": { input: ReadRequest; output: RequestRead };
    /** Returns recorded WebSocket frames. */
    "record.sockets": { input: ReadSockets; output: SocketRecord };
    /** Starts an empty recording. */
    "record.start": { input: StartRecording; output: StartedRecording };
    /** Stops recording, until `record.start`. */
    "record.stop": { input: NoInput; output: NoOutput };
    /** Intercepts the tab's requests, also those of frames in other processes. */
    "intercept.start": { input: StartIntercepting; output: StartedIntercepting };
    /** Lists the intercepted requests that wait. */
    "intercept.list": { input: ListIntercepted; output: Intercepted };
    /** Answers, fails or continues a request. */
    "intercept.answer": { input: FulfillRequest | FailRequest | ContinueRequest; output: AnsweredRequest };
    /** Stops intercepting; waiting requests are continued. */
    "intercept.stop": { input: NoInput; output: StoppedIntercepting };
    /** Lists cookies. */
    "cookies.get": { input: NamedCookies; output: CookieList };
    /** Sets a cookie. */
    "cookies.set": { input: SetCookie; output: CookieSet };
    /** Deletes cookies. */
    "cookies.delete": { input: NamedCookies; output: DeletedCookies };
    /** Clears the stored data of a site. */
    "site.clear": { input: ClearSiteData; output: ClearedSiteData };
    /** Downloads a file and waits until it is complete; reports progress. */
    "downloads.start": { input: StartDownload; output: Download };
    /** Lists downloads. */
    "downloads.list": { input: ListDownloads; output: DownloadList };
    /** Describes a download. */
    "downloads.status": { input: DownloadStatus; output: Download };
    /** Saves a file of the server as a download. */
    "downloads.save": { input: SaveFile; output: SavedFile };
    /** Searches visited pages. */
    "history.search": { input: SearchHistory; output: VisitedPages };
    /** Lists the visits to a page. */
    "history.visits": { input: ListVisits; output: VisitList };
    /** Searches bookmarks. */
    "bookmarks.search": { input: SearchBookmarks; output: FoundBookmarks };
    /** Creates a bookmark. */
    "bookmarks.create": { input: CreateBookmark; output: Bookmark };
    /** Lists bookmarks. */
    "bookmarks.tree": { input: ListBookmarks; output: BookmarkTree };
    /** Describes the extension. */
    "extension.state": { input: NoInput; output: ExtensionState };
    /** Returns the log of the extension's worker. */
    "extension.logs": { input: ReadLogs; output: LogLines };
    /** Counts open panels. */
    "extension.panel": { input: NoInput; output: PanelState };
    /** Shows the person a notification. */
    "notices.show": { input: ShowNotice; output: ShownNotice };
    /** Sends a request from the page, with its session. The page can neither see nor change it. An address that is not allowed is refused before the request (`permission_denied`) or, after redirects, before the body is read (`request_failed`). A body that the link cannot carry is `too_large`. */
    "plugin.fetch": { input: PluginFetch; output: PluginResponse | PluginResponseStream };
    /** Waits for the next bytes of a stream. It is closed at its end, when the page goes away, and if nobody reads for 60 s; a tab has 16 at most. */
    "plugin.fetchRead": { input: PluginStream; output: PluginStreamPiece };
    /** Closes a stream. */
    "plugin.fetchClose": { input: PluginStream; output: NoOutput };
    /** Says whether something in the main frame matches, shadow roots included. */
    "plugin.has": { input: PluginSelector; output: PluginFound };
    /** Waits until something matches, or nothing. */
    "plugin.waitFor": { input: PluginWait; output: PluginFound };
    /** Reads or changes the page's storage; `csp_blocked` where the page has none. */
    "plugin.storage": { input: PluginStorage; output: PluginStored | PluginStorageKeys };
    /** Runs a script of a plugin in the page's own world, which can change what it returns. */
    "plugin.run": { input: PluginRun; output: PluginRan };
  }

  type Input<N extends keyof Commands> = Commands[N]["input"];
  type Output<N extends keyof Commands> = Commands[N]["output"];
  type BrowserCommand = "tabs.list" | "tabs.open" | "windows.list" | "windows.update" | "windows.close" | "groups.list" | "groups.create" | "groups.add" | "groups.remove" | "groups.update" | "sessions.recent" | "sessions.restore" | "downloads.start" | "downloads.list" | "downloads.status" | "history.search" | "history.visits" | "bookmarks.search" | "bookmarks.create" | "bookmarks.tree" | "extension.state" | "extension.logs" | "extension.panel" | "notices.show";
  type TabCommand = "tabs.close" | "tabs.focus" | "tabs.info" | "tabs.group" | "tabs.ungroup" | "tabs.release" | "tabs.navigate" | "page.evaluate" | "page.read" | "page.find" | "page.describe" | "page.locate" | "page.query" | "page.text" | "page.html" | "page.wait" | "page.styles" | "page.storage" | "page.resources" | "page.resource" | "site.analyze" | "page.click" | "page.hover" | "page.fill" | "page.select" | "page.set" | "page.press" | "page.type" | "page.scroll" | "page.drag" | "page.dialog" | "page.upload" | "page.target" | "page.receiver" | "page.shownDialog" | "page.outline" | "page.capture" | "page.pdf" | "page.pseudo" | "page.coverage" | "page.emulate" | "page.permission" | "record.console" | "record.clearConsole" | "record.network" | "record.request" | "record.sockets" | "record.start" | "record.stop" | "intercept.start" | "intercept.list" | "intercept.answer" | "intercept.stop" | "cookies.get" | "cookies.set" | "cookies.delete" | "site.clear" | "downloads.save" | "plugin.fetch" | "plugin.fetchRead" | "plugin.fetchClose" | "plugin.has" | "plugin.waitFor" | "plugin.storage" | "plugin.run";
}
