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
    /** The site that was decided about: on any other the command must not run. */
    site?: string | null;
    /** Whether to ask (`frames.allowed`) before it enters frames of other sites. */
    frames?: boolean;
    /** Whether a script may make the input where the debugger cannot be used. */
    untrusted?: boolean;
  }

  /** Nothing. */
  interface NoInput {
  }

  /** Every tab, and the dialogs that are open, file choosers too. */
  interface TabList {
    tabs: Tab[];
    dialogs: TabDialog[];
  }

  /** A tab, by Chrome's own number. Addresses are cut at 2,000 characters, titles at 500. */
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

  /** A dialog, with the tab that it is open in. */
  interface TabDialog {
    type: "alert" | "beforeunload" | "confirm" | "file_chooser" | "http_auth" | "prompt";
    message: string;
    defaultPrompt?: string;
    /** Whether a file chooser takes several files. */
    multiple?: boolean;
    origin?: string;
    realm?: string;
    scheme?: string;
    tabId: number;
  }

  /** Where to, and in which window. */
  interface OpenTab {
    url: string;
    active?: boolean;
    windowId?: number;
    /** Opens the tab in a new window. */
    window?: NewWindow;
    group?: AgentGroup | null;
    timeoutMs?: number;
  }

  /** How a new window is to be; a window that is not `normal` has no size of its own. */
  interface NewWindow {
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    state?: "fullscreen" | "maximized" | "minimized" | "normal";
    incognito?: boolean;
  }

  /** The tab group of an agent. A tab joins the group `groupId` if it is still in the tab's own window; otherwise a new group is made in that window. Nothing is activated, and no tab changes its window. */
  interface AgentGroup {
    title: string;
    color: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    groupId?: number;
  }

  /** The new tab; no `groupId` where tabs cannot be grouped. */
  interface OpenedTab {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
    groupId?: number;
    window?: Window;
    /** A server asks for HTTP authentication: the page waits for that. */
    dialog?: Dialog;
  }

  /** A window; the size is that of the whole window, `viewport` that of the page in it. */
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

  /** In CSS pixels. */
  interface Size {
    width: number;
    height: number;
  }

  /** What a page or a server asks; `origin`, `realm` and `scheme` of HTTP authentication. */
  interface Dialog {
    type: "alert" | "beforeunload" | "confirm" | "file_chooser" | "http_auth" | "prompt";
    message: string;
    defaultPrompt?: string;
    /** Whether a file chooser takes several files. */
    multiple?: boolean;
    origin?: string;
    realm?: string;
    scheme?: string;
  }

  /** Which tab was closed. */
  interface ClosedTab {
    closed: number;
    /** By which the browser could bring it back. */
    sessionId?: string;
  }

  /** Where a tab is. */
  interface TabPage {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
  }

  /** A tab, with what is emulated in it and the dialog that is open. */
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

  /** All that is emulated in a tab. */
  interface Emulated {
    device?: EmulatedDevice;
    geolocation?: EmulatedPlace;
    media?: EmulatedMedia[];
    vision?: string;
    network?: EmulatedLine;
  }

  /** The screen that a page is to believe in. */
  interface EmulatedDevice {
    width: number;
    height: number;
    deviceScaleFactor: number;
    mobile: boolean;
    userAgent?: string;
  }

  /** Where on earth the page is. */
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

  /** A network connection; throughputs in bytes a second, -1 without a limit. */
  interface EmulatedLine {
    offline: boolean;
    latency: number;
    downloadThroughput: number;
    uploadThroughput: number;
  }

  /** Which group the tab is to join. */
  interface GroupTab {
    group: AgentGroup;
  }

  /** The group that the tab is in; none where tabs cannot be grouped. */
  interface GroupedTab {
    groupId?: number;
  }

  /** Nothing. */
  interface NoOutput {
  }

  /** Where to. */
  interface NavigateTab {
    /** An address, or `back`, `forward` or `reload`. */
    url: string;
    timeoutMs?: number;
  }

  /** Where the tab is now. */
  interface NavigatedTab {
    tabId: number;
    url: string;
    title: string;
    status: "complete" | "loading" | "unloaded";
    /** A server asks for HTTP authentication: the page waits for that. */
    dialog?: Dialog;
    /** Intercepted requests that hold the page up. */
    waiting?: WaitingRequest[];
  }

  /** A request that waits to be answered. Long addresses and headers are clipped. */
  interface WaitingRequest {
    requestId: string;
    url: string;
    method: string;
    resourceType: string;
    headers: Record<string, string>;
    postData?: string;
    since: number;
  }

  /** Every window. */
  interface WindowList {
    windows: Window[];
  }

  /** What is to change. */
  interface UpdateWindow {
    windowId: number;
    /** The numbers of the caller's tabs: with any other tab in it the window stays as it is. */
    own: number[];
    left?: number;
    top?: number;
    width?: number;
    height?: number;
    state?: "fullscreen" | "maximized" | "minimized" | "normal";
    focused?: boolean;
    /** The number of a tab whose own size is wanted. */
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
    /** The size of the page in the tab that was named; of one behind another, what it last had. */
    page?: Size;
  }

  /** Which window. */
  interface CloseWindow {
    windowId: number;
    /** The numbers of the caller's tabs: with any other tab in it the window stays as it is. */
    own: number[];
  }

  /** Which window was closed. */
  interface ClosedWindow {
    closed: number;
  }

  /** Of which window; without one, of all. */
  interface ListGroups {
    windowId?: number;
  }

  /** The tab groups. */
  interface GroupList {
    groups: TabGroup[];
  }

  /** A tab group as the person sees it. */
  interface TabGroup {
    groupId: number;
    title: string;
    color: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    collapsed: boolean;
    windowId: number;
    tabIds: number[];
  }

  /** Which tabs, all in one window, and how the group looks. */
  interface CreateGroup {
    tabIds: number[];
    /** The numbers of the caller's tabs: nothing else is grouped. */
    own: number[];
    title?: string;
    color?: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
  }

  /** Which tabs join which group. */
  interface AddToGroup {
    groupId: number;
    tabIds: number[];
    own: number[];
  }

  /** Which tabs leave their group. */
  interface RemoveFromGroup {
    tabIds: number[];
    own: number[];
  }

  /** Those that left. */
  interface RemovedFromGroup {
    tabIds: number[];
  }

  /** What is to change. */
  interface UpdateGroup {
    groupId: number;
    own: number[];
    title?: string;
    color?: "blue" | "cyan" | "green" | "grey" | "orange" | "pink" | "purple" | "red" | "yellow";
    collapsed?: boolean;
  }

  /** How many at most; 25 without a number. */
  interface RecentSessions {
    maxResults?: number;
  }

  /** The latest first. */
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

  /** A page that was open. */
  interface ClosedPage {
    url: string;
    title: string;
  }

  /** Which one, and whose it is to be. */
  interface RestoreSession {
    sessionId: string;
    group: AgentGroup | null;
    timeoutMs: number;
  }

  /** What is open again; no `groupId` where tabs cannot be grouped. */
  interface RestoredTabs {
    tabs: Tab[];
    groupId?: number;
  }

  /** The code; its value is that of the last expression, and `return` and `await` may be used. */
  interface Evaluate {
    code: string;
    timeoutMs?: number;
  }

  /** The value, as `JSON.stringify` would have it. */
  interface Evaluated {
    value: unknown;
  }

  /** A value that JSON cannot hold. */
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

  /** What to read, and how much of it. */
  interface ReadPage {
    filter?: "all" | "interactive";
    depth?: number;
    /** Only this element and what is inside. */
    ref?: string | null;
    maxChars?: number;
    offset?: number;
    /** The number of an earlier reading: read in the same manner, tell only what changed. */
    since?: number | null;
    /** Tell how long all of it is. */
    measure?: boolean;
  }

  /** The page as lines of text. */
  interface PageRead {
    url: string;
    title: string;
    /** Where it is no HTML. */
    contentType?: string;
    text: string;
    truncated: boolean;
    /** The `offset` of what follows. */
    next?: number;
    /** `text` has only lines that are new (`+`) or gone (`-`) since that reading. Without it that reading was of another document or is forgotten, and `text` is the whole page. */
    since?: number;
    /** With `measure`: the characters of all of it. */
    total?: number;
    /** With `measure`: whether all of the page was looked at. */
    whole?: boolean;
    /** The number of this reading. */
    read: number;
    /** How many elements were looked at; of a huge page not all. */
    nodes: number;
    viewport: Size;
  }

  /** Words that describe what is looked for. */
  interface FindElements {
    query: string;
    /** 20 without a number. */
    limit?: number;
  }

  /** The best first, of all frames. */
  interface FoundElements {
    matches: FoundElement[];
    total: number;
    /** Whether all of a huge page was searched. */
    whole: boolean;
  }

  /** An element that fits. */
  interface FoundElement {
    ref: string;
    role: string;
    name: string;
    /** Of an input. */
    type?: string;
    reason: string;
  }

  /** An element, by one of the two. */
  interface Named {
    ref?: string;
    selector?: string;
  }

  /** What an element can be known by at another time. */
  interface ElementAndView {
    viewport: Size;
    role: string;
    name: string;
    /** One that matches this element and nothing else. */
    selector?: string;
  }

  /** The size of the viewport, where no element was named. */
  interface View {
    viewport: Size;
  }

  /** An element that was described before. */
  interface LocateElement {
    selector?: string;
    role: string;
    name: string;
    timeoutMs?: number;
  }

  /** The element now. */
  interface LocatedElement {
    ref: string;
  }

  /** By selector; with `ref` inside that element, `ref` alone is the element itself. */
  interface QueryElements {
    selector?: string;
    ref?: string;
    /** 100 without a number. */
    limit?: number;
    /** The attributes to tell; without them the usual ones. */
    attributes?: string[];
  }

  /** Of all frames, the main frame first. */
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

  /** A part of the page; without an element the whole. */
  interface ReadPiece {
    ref?: string;
    selector?: string;
    maxChars?: number;
    offset?: number;
  }

  /** One text, with that of frames where they stand. */
  interface PieceRead {
    url: string;
    title: string;
    /** Where it is no HTML. */
    contentType?: string;
    /** The tag of the element that was read. */
    source: string;
    text: string;
    truncated: boolean;
    /** The `offset` of what follows. */
    next?: number;
  }

  /** By selector in all frames, also of documents that load meanwhile, or one that is known. */
  interface WaitForElement {
    ref?: string;
    selector?: string;
    /** 10,000 without a number. */
    timeoutMs?: number;
    visible?: boolean;
  }

  /** The element that is there. */
  interface AwaitedElement {
    element: SeenElement;
  }

  /** An element, and whether it can be seen. */
  interface SeenElement {
    ref: string;
    tag: string;
    text: string;
    attributes: Record<string, string>;
    visible: boolean;
  }

  /** Of which element. */
  interface ElementStyles {
    ref?: string;
    selector?: string;
    /** CSS properties; without them the usual ones. */
    properties?: string[];
  }

  /** How the element looks. */
  interface StyledElement {
    ref: string;
    tag: string;
    text: string;
    attributes: Record<string, string>;
    box: Box;
    styles: Record<string, string>;
  }

  /** A rectangle in CSS pixels. */
  interface Box {
    x: number;
    y: number;
    width: number;
    height: number;
  }

  /** Which storage of the page's origin. */
  interface ReadStorage {
    storageType: "local" | "session";
    key?: string;
  }

  /** Those entries of which there is room for. */
  interface StorageRead {
    entries: [string, string][];
    total: number;
  }

  /** Only those of a type. */
  interface ListResources {
    type?: string;
  }

  /** Of all frames. */
  interface ResourceList {
    resources: Resource[];
    total: number;
  }

  /** A file that the page is made of. */
  interface Resource {
    url: string;
    type: string;
    mimeType: string;
    size?: number;
    failed?: boolean;
  }

  /** Which file. */
  interface ReadResource {
    url: string;
    /** 500,000 without a number. */
    maxChars?: number;
  }

  /** A file and what is in it. */
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

  /** On what, and how. */
  interface Click {
    ref?: string;
    selector?: string;
    /** With `y`: a point of the viewport. */
    x?: number;
    y?: number;
    /** With `pageY`: a point of the page. */
    pageX?: number;
    pageY?: number;
    /** How many ms to wait for the page to come to rest; 1,000 without a number. */
    settle?: number;
    button?: "left" | "middle" | "right";
    clickCount?: number;
    /** `ctrl`, `shift`, `alt`, `meta`. */
    modifiers?: string[];
  }

  /** What the click did, and where in the viewport it was. */
  interface Clicked {
    effect: Effect;
    /** Whether it was input such as a person makes. */
    trusted: boolean;
    /** A script in the page made the events, because the debugger may not be used. */
    byScript?: boolean;
    point?: Point;
  }

  /** What an action has led to. */
  interface Effect {
    /** The address the tab went to. */
    navigated?: string;
    /** Whether the document changed. */
    mutated: boolean;
    /** The one that ended the waiting. */
    dialog?: Dialog;
    /** The number of a tab that was opened, which stays behind the one in front. */
    opened?: number;
    /** The name of a file that is downloaded. */
    download?: string;
  }

  /** In CSS pixels. */
  interface Point {
    x: number;
    y: number;
  }

  /** Over what; also over what is disabled. */
  interface Hover {
    ref?: string;
    selector?: string;
    /** With `y`: a point of the viewport. */
    x?: number;
    y?: number;
    /** With `pageY`: a point of the page. */
    pageX?: number;
    pageY?: number;
    /** How many ms to wait for the page to come to rest; 1,000 without a number. */
    settle?: number;
  }

  /** What was done. */
  interface Acted {
    effect: Effect;
    /** Whether it was input such as a person makes. */
    trusted: boolean;
    /** A script in the page made the events, because the debugger may not be used. */
    byScript?: boolean;
  }

  /** The text, in the place of what is there unless `clear` is false. */
  interface Fill {
    ref?: string;
    selector?: string;
    settle?: number;
    text: string;
    clear?: boolean;
  }

  /** What was done to the field. Errors of a sensitive field have `data.sensitive`. */
  interface Filled {
    effect: FieldEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
  }

  /** The effect, and what the field holds then. */
  interface FieldEffect {
    /** The address the tab went to. */
    navigated?: string;
    /** Whether the document changed. */
    mutated: boolean;
    /** The one that ended the waiting. */
    dialog?: Dialog;
    /** The number of a tab that was opened, which stays behind the one in front. */
    opened?: number;
    /** The name of a file that is downloaded. */
    download?: string;
    /** Of a sensitive field a row of dots. */
    value?: string;
  }

  /** The options to be chosen, by value or by label: these and no others. */
  interface Select {
    ref?: string;
    selector?: string;
    settle?: number;
    value?: string | string[];
    label?: string | string[];
  }

  /** The value: text is typed, an option chosen by value or text, a box switched on or off. */
  interface SetField {
    ref?: string;
    selector?: string;
    settle?: number;
    value: string | number | boolean;
  }

  /** What was done to the field, and what it held; of boxes `true` or `false`. */
  interface FieldSet {
    effect: FieldEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
    before: string;
  }

  /** Keys for the element, or for what has the focus. */
  interface Press {
    ref?: string;
    selector?: string;
    settle?: number;
    /** A key or chord (`Enter`, `ctrl+a`), or several between spaces. */
    key: string;
    modifiers?: string[];
    repeat?: number;
  }

  /** What the keys did. */
  interface Pressed {
    effect: KeyEffect;
    trusted: boolean;
    byScript?: boolean;
    sensitive: boolean;
  }

  /** The effect; `value` is that of the field that then has the focus. */
  interface KeyEffect {
    /** The address the tab went to. */
    navigated?: string;
    /** Whether the document changed. */
    mutated: boolean;
    /** The one that ended the waiting. */
    dialog?: Dialog;
    /** The number of a tab that was opened, which stays behind the one in front. */
    opened?: number;
    /** The name of a file that is downloaded. */
    download?: string;
    /** Of a sensitive field a row of dots. */
    value?: string;
    /** Where a key has moved the focus. */
    focused?: string;
  }

  /** Text for what has the focus; the end of a line is Enter. */
  interface Type {
    text: string;
    settle?: number;
  }

  /** What, and how far. The page if nothing is named; around an element, or with an element alone that into view. At a point the wheel is turned by `distance`. */
  interface Scroll {
    ref?: string;
    selector?: string;
    /** With `y`: a point of the viewport. */
    x?: number;
    y?: number;
    /** With `pageY`: a point of the page. */
    pageX?: number;
    pageY?: number;
    /** How many ms to wait for the page to come to rest; 1,000 without a number. */
    settle?: number;
    /** A selector of what scrolls. */
    container?: string;
    direction?: "down" | "left" | "right" | "up";
    distance?: number;
    position?: ScrollTarget;
  }

  /** A place to scroll to. */
  interface ScrollTarget {
    x?: number;
    y?: number;
  }

  /** What scrolling did. */
  interface Scrolled {
    effect: ScrollEffect;
    trusted: boolean;
    byScript?: boolean;
    /** Whether the wheel was turned, because nothing scrolls there by itself. */
    wheel: boolean;
  }

  /** The effect; without `moved` and `position` if a dialog has opened. */
  interface ScrollEffect {
    /** The address the tab went to. */
    navigated?: string;
    /** Whether the document changed. */
    mutated: boolean;
    /** The one that ended the waiting. */
    dialog?: Dialog;
    /** The number of a tab that was opened, which stays behind the one in front. */
    opened?: number;
    /** The name of a file that is downloaded. */
    download?: string;
    moved?: boolean;
    position?: ScrollPosition;
  }

  /** Where what scrolls is, and where it ends. */
  interface ScrollPosition {
    x: number;
    y: number;
    maxX: number;
    maxY: number;
  }

  /** From where to where; what the page makes a drag of data is dropped. */
  interface Drag {
    from: Place;
    to: Place;
    modifiers?: string[];
    settle?: number;
  }

  /** An element, or a point in view; what is there is acted on, in whichever frame. */
  interface Place {
    ref?: string;
    selector?: string;
    /** With `y`: a point of the viewport. */
    x?: number;
    y?: number;
    /** With `pageY`: a point of the page. */
    pageX?: number;
    pageY?: number;
  }

  /** What dragging did. */
  interface Dragged {
    effect: Effect;
    /** Whether it was input such as a person makes. */
    trusted: boolean;
    /** A script in the page made the events, because the debugger may not be used. */
    byScript?: boolean;
    path: DragPath;
  }

  /** The ends, in the viewport. */
  interface DragPath {
    start: Point;
    end: Point;
  }

  /** The answer to the dialog that is open. */
  interface AnswerDialog {
    action: "accept" | "dismiss";
    /** Without it a prompt is accepted as it stands; `user:password` for HTTP authentication. */
    promptText?: string;
    settle?: number;
  }

  /** The effect of what waited behind the dialog. */
  interface AnsweredDialog {
    effect: Effect;
    answered: Dialog;
    trusted: boolean;
  }

  /** Files for an input, or to be dropped; without a place for the file chooser that is open. */
  interface Upload {
    ref?: string;
    selector?: string;
    /** With `y`: a point of the viewport. */
    x?: number;
    y?: number;
    /** With `pageY`: a point of the page. */
    pageX?: number;
    pageY?: number;
    /** How many ms to wait for the page to come to rest; 1,000 without a number. */
    settle?: number;
    files: FileToGive[];
  }

  /** A file of the server's: the extension asks for its bytes by `files.read`. */
  interface FileToGive {
    name: string;
    mimeType: string;
    size: number;
    /** Where the browser may read it by itself. */
    path?: string;
  }

  /** What the page has received. */
  interface Uploaded {
    effect: UploadEffect;
    trusted: boolean;
    /** Those that the input's `accept` does not name. */
    misfits?: string[];
  }

  /** The effect. */
  interface UploadEffect {
    /** The address the tab went to. */
    navigated?: string;
    /** Whether the document changed. */
    mutated: boolean;
    /** The one that ended the waiting. */
    dialog?: Dialog;
    /** The number of a tab that was opened, which stays behind the one in front. */
    opened?: number;
    /** The name of a file that is downloaded. */
    download?: string;
    files?: ReceivedFile[];
  }

  /** A file as the page has received it. */
  interface ReceivedFile {
    name: string;
    size: number;
  }

  /** Of what: an element, a region, the page or what is in view. */
  interface Capture {
    ref?: string;
    selector?: string;
    fullPage?: boolean;
    /** A part of the viewport, or of the page with `fullPage`. */
    region?: Region;
    format?: "jpeg" | "png";
    /** 80 without a number. */
    quality?: number;
    scale?: number;
    /** What is larger is made smaller first. */
    maxSide?: number;
  }

  /** A rectangle as an agent names it: the extension refuses one that is not complete. */
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
    /** Smaller than asked for where the picture would be too large. */
    scale: number;
    /** Always of the page. */
    region: Box;
    page: Size;
    viewport: Size;
  }

  /** How to print. */
  interface PrintPdf {
    landscape?: boolean;
    /** True without it. */
    printBackground?: boolean;
    scale?: number;
    pageRanges?: string;
  }

  /** The file, in base64. */
  interface PrintedPdf {
    data: string;
  }

  /** States such as `:hover`; none ends it. */
  interface ForcePseudo {
    ref?: string;
    selector?: string;
    pseudoClasses: string[];
  }

  /** How many elements of the tab are in a forced state. */
  interface ForcedPseudo {
    forced: number;
  }

  /** Whether to stop counting. */
  interface CssCoverage {
    stop?: boolean;
  }

  /** Since when, and of which sheets. */
  interface CssUsage {
    since: number;
    sheets: SheetUsage[];
  }

  /** A style sheet, and which of its rules are in use. */
  interface SheetUsage {
    url: string;
    inline: boolean;
    totalBytes: number;
    usedBytes: number;
    rules: number;
    usedRules: number;
    /** Selectors. */
    unused: string[];
  }

  /** Changes. */
  interface Emulate {
    set: EmulationChanges;
  }

  /** What is to be emulated; null ends it. */
  interface EmulationChanges {
    device?: EmulatedDevice | null;
    geolocation?: EmulatedPlace | null;
    media?: EmulatedMedia[] | null;
    vision?: string | null;
    network?: EmulatedLine | null;
  }

  /** All that is emulated in the tab now. */
  interface EmulatedNow {
    emulated: Emulated;
  }

  /** What the page's site may do, until the tab closes; only a managed browser takes it. */
  interface SetPermission {
    name: "camera" | "geolocation" | "microphone" | "notifications";
    setting: "allow" | "ask" | "block";
  }

  /** As the page sees it. */
  interface PermissionNow {
    origin: string;
    state: "denied" | "granted" | "prompt" | "unknown";
  }

  /** Which messages. */
  interface ReadConsole {
    level?: "all" | "debug" | "error" | "info" | "log" | "warn";
    /** A regular expression without lookaround. */
    pattern?: string;
    limit?: number;
    /** Whether `limit` counts from the end. */
    newest?: boolean;
    clear?: boolean;
  }

  /** The messages. */
  interface ConsoleRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: ConsoleEntry[];
  }

  /** What was said to the console, or went wrong. */
  interface ConsoleEntry {
    level: "debug" | "error" | "info" | "log" | "warn";
    /** `console`, `exception`, or the part of the browser that speaks. */
    source: string;
    time: number;
    text: string;
    /** Of the script. */
    url: string;
    line?: number;
    column?: number;
    /** The address of the tab then. */
    page: string;
    /** Decides whether the caller may see the entry. */
    site: string;
  }

  /** How many messages there were. */
  interface ClearedConsole {
    cleared: number;
  }

  /** Which requests, and how much of them. */
  interface ReadNetwork {
    /** A part of the address. */
    urlPattern?: string;
    since?: number;
    limit?: number;
    /** Whether `limit` counts from the end. */
    newest?: boolean;
    headers?: boolean;
    /** How many characters of them. */
    bodies?: number;
    clear?: boolean;
  }

  /** The requests. */
  interface NetworkRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: RecordedRequest[];
  }

  /** A request; each step of a redirect is one of its own. */
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
    /** As transferred. */
    size?: number;
    /** As unpacked. */
    bodySize?: number;
    fromCache?: boolean;
    /** Why. */
    failed?: string;
    redirectedTo?: string;
    /** It was over before recording began; the page itself has told of it. */
    fromTiming?: boolean;
    hasPostData?: boolean;
    /** The address of the document. */
    page: string;
    /** Decides whether the caller may see the entry. */
    site: string;
    requestHeaders?: [string, string][];
    responseHeaders?: [string, string][];
    postData?: string;
    /** As the debugger has it. */
    timing?: Record<string, number>;
    body?: Body;
  }

  /** What a request got: `text` and `base64`, or why it is `unavailable`. */
  interface Body {
    text?: string;
    base64?: boolean;
    /** Of the whole, where it was cut. */
    length?: number;
    unavailable?: string;
  }

  /** Which request. */
  interface ReadRequest {
    requestId: string;
    /** How many characters of it. */
    body?: number;
  }

  /** The request, with all that is known. */
  interface RequestRead {
    request: RecordedRequest;
  }

  /** Which frames. */
  interface ReadSockets {
    urlPattern?: string;
    limit?: number;
    newest?: boolean;
    clear?: boolean;
  }

  /** The frames. */
  interface SocketRecord {
    total: number;
    began: number;
    dropped: number;
    urlFilter?: string;
    entries: SocketFrame[];
  }

  /** A frame of a web socket. */
  interface SocketFrame {
    requestId: string;
    url: string;
    direction: "received" | "sent";
    time: number;
    opcode: number;
    data: string;
    base64: boolean;
    /** Of the whole payload. */
    length: number;
    site: string;
  }

  /** How much to keep; what is not said is as the server wishes in `sync.full`. */
  interface StartRecording {
    consoleEntries?: number;
    networkEntries?: number;
    socketFrames?: number;
    /** Only requests whose address has this in it. */
    urlFilter?: string;
  }

  /** How much is kept; nothing if the tab has just closed. */
  interface StartedRecording {
    sizes?: RecordingSizes;
  }

  /** How much to keep, and of which addresses. */
  interface RecordingSizes {
    consoleEntries: number;
    networkEntries: number;
    socketFrames?: number;
    urlFilter?: string;
  }

  /** Patterns of addresses, as the debugger has them. */
  interface StartIntercepting {
    urlPatterns: string[];
  }

  /** What is intercepted. */
  interface StartedIntercepting {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
    urlPatterns: string[];
    /** Those whose requests may be held; null for all. */
    sites: string[] | null;
  }

  /** A request that went on without an answer. */
  interface OverdueRequest {
    requestId: string;
    url: string;
    how: string;
  }

  /** How long to wait for a request, if none waits. */
  interface ListIntercepted {
    timeoutMs?: number;
  }

  /** What waits, and what has waited too long. */
  interface Intercepted {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
  }

  /** Answers the request; `body` in base64. */
  interface FulfillRequest {
    requestId: string;
    how: "fulfill";
    status: number;
    headers?: Record<string, string>;
    body?: string;
  }

  /** Has the request fail. */
  interface FailRequest {
    requestId: string;
    how: "fail";
    errorReason: string;
  }

  /** Lets the request go on, changed if so wished; `body` in base64. */
  interface ContinueRequest {
    requestId: string;
    how: "continue";
    url?: string;
    method?: string;
    headers?: Record<string, string>;
    /** Headers of the request that stay as they are, whatever `headers` says of them. */
    keepHeaders?: string[];
    body?: string;
  }

  /** Which request was answered. */
  interface AnsweredRequest {
    waiting: WaitingRequest[];
    overdue: OverdueRequest[];
    requestId: string;
  }

  /** How many waiting requests went on. */
  interface StoppedIntercepting {
    continued: number;
  }

  /** Those that the browser would send to an address. */
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

  /** The site under which a partitioned cookie is kept. */
  interface PartitionKey {
    topLevelSite?: string;
    hasCrossSiteAncestor?: boolean;
  }

  /** The cookie. */
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

  /** How many there were. */
  interface DeletedCookies {
    deleted: number;
  }

  /** Whose data, and which. */
  interface ClearSiteData {
    origin: string;
    kinds: ("cache" | "cookies" | "indexedDB" | "localStorage" | "serviceWorkers")[];
  }

  /** What was cleared. */
  interface ClearedSiteData {
    cleared: ("cache" | "cookies" | "indexedDB" | "localStorage" | "serviceWorkers")[];
  }

  /** From where. */
  interface StartDownload {
    url: string;
    filename?: string;
    /** Whether the browser asks the person where to. */
    saveAs?: boolean;
    timeoutMs?: number;
  }

  /** A download. */
  interface Download {
    downloadId: number;
    state: "complete" | "in_progress" | "interrupted";
    path: string;
    url: string;
    bytesReceived: number;
    /** -1 where it is not known. */
    totalBytes: number;
    mime: string;
    error?: string;
  }

  /** Which ones. */
  interface ListDownloads {
    query?: string;
    state?: "complete" | "in_progress" | "interrupted";
    limit: number;
    /** Leave out what a person has downloaded. */
    onlyOurs: boolean;
  }

  /** The latest first. */
  interface DownloadList {
    downloads: Download[];
    total: number;
  }

  /** Which one. */
  interface DownloadStatus {
    downloadId: number;
    /** Leave out what a person has downloaded. */
    onlyOurs: boolean;
  }

  /** The file, whose bytes are asked for by `files.read`. */
  interface SaveFile {
    file: FileToGive;
  }

  /** Words, and a span of time; without its start, from the beginning. */
  interface SearchHistory {
    query: string;
    maxResults: number;
    startTime?: number;
    endTime?: number;
  }

  /** The latest first. */
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

  /** Of which address. */
  interface ListVisits {
    url: string;
  }

  /** The latest first. */
  interface VisitList {
    visits: Visit[];
  }

  /** One visit of a page. */
  interface Visit {
    visitId: string;
    visitTime: number;
    transition: string;
    referringVisitId?: string;
  }

  /** Words. */
  interface SearchBookmarks {
    query: string;
  }

  /** Those that match. */
  interface FoundBookmarks {
    bookmarks: Bookmark[];
  }

  /** A bookmark; without an address it is a folder. */
  interface Bookmark {
    id: string;
    title: string;
    parentId?: string;
    url?: string;
    dateAdded?: number;
  }

  /** The bookmark, and the folder it goes into. */
  interface CreateBookmark {
    title: string;
    url: string;
    parentId?: string;
  }

  /** Of which folder, and how deep; without a folder all. */
  interface ListBookmarks {
    parentId?: string;
    maxDepth: number;
  }

  /** Bookmarks and folders. */
  interface BookmarkTree {
    tree: BookmarkNode[];
  }

  /** A bookmark, or a folder with what is in it, or with how many where the depth ends. */
  interface BookmarkNode {
    id: string;
    title: string;
    parentId?: string;
    url?: string;
    dateAdded?: number;
    children?: BookmarkNode[];
    childCount?: number;
  }

  /** What the extension says of itself: numbers only, no addresses. */
  interface ExtensionState {
    version: string;
    startedAt: number;
    tabs: number;
    connectedTabs: number;
    debuggedTabs: number[];
    /** Why the debugger is held, by the number of the tab. */
    heldTabs: Record<string, string[]>;
    dialogTabs: number[];
    panels: number;
  }

  /** Which lines. */
  interface ReadLogs {
    level?: "all" | "error" | "info" | "log" | "warn";
    source?: "all" | "background" | "offscreen";
    limit?: number;
    since?: number;
  }

  /** The latest of those that fit, the latest last. */
  interface LogLines {
    entries: LogLine[];
    total: number;
  }

  /** A line: names of commands, reasons, numbers of tabs. */
  interface LogLine {
    time: number;
    level: "error" | "info" | "log" | "warn";
    source: "background";
    message: string;
  }

  /** How many panels are open, and how many of them in tabs. */
  interface PanelState {
    panels: number;
    inTabs: number;
  }

  /** What the agent says. */
  interface ShowNotice {
    agent: string;
    title: string;
    message: string;
    contextMessage?: string;
    /** A `data:` address of a picture. */
    iconUrl?: string;
    requireInteraction?: boolean;
    /** What a click opens. */
    url?: string;
  }

  /** It is shown. */
  interface ShownNotice {
    shown: true;
  }

  interface Commands {
    /** Lists the browser's tabs. */
    "tabs.list": { input: NoInput; output: TabList };
    /** Opens a tab, behind the one in front unless `active`, and waits until it has loaded. */
    "tabs.open": { input: OpenTab; output: OpenedTab };
    /** Closes the tab. */
    "tabs.close": { input: NoInput; output: ClosedTab };
    /** Brings the tab and its window to the front. */
    "tabs.focus": { input: NoInput; output: TabPage };
    /** Describes the tab. */
    "tabs.info": { input: NoInput; output: TabInfo };
    /** Puts the tab into the group of its agent. */
    "tabs.group": { input: GroupTab; output: GroupedTab };
    /** Takes the tab out of its group and releases it: its agent has left it. */
    "tabs.ungroup": { input: NoInput; output: NoOutput };
    /** Ends what an agent has put on the tab: emulation, interception, forced states, recording. */
    "tabs.release": { input: NoInput; output: NoOutput };
    /** Goes to an address and waits for it to load; reports progress at commit, DOM and load. */
    "tabs.navigate": { input: NavigateTab; output: NavigatedTab };
    /** Lists the windows. */
    "windows.list": { input: NoInput; output: WindowList };
    /** Moves, resizes, focuses a window, or changes its state. */
    "windows.update": { input: UpdateWindow; output: UpdatedWindow };
    /** Closes a window with its tabs. */
    "windows.close": { input: CloseWindow; output: ClosedWindow };
    /** Lists the tab groups. */
    "groups.list": { input: ListGroups; output: GroupList };
    /** Makes a group of tabs. */
    "groups.create": { input: CreateGroup; output: TabGroup };
    /** Adds tabs to a group. */
    "groups.add": { input: AddToGroup; output: TabGroup };
    /** Takes tabs out of their groups. */
    "groups.remove": { input: RemoveFromGroup; output: RemovedFromGroup };
    /** Changes the title or color of a group, or folds it. */
    "groups.update": { input: UpdateGroup; output: TabGroup };
    /** Lists tabs and windows that were closed. */
    "sessions.recent": { input: RecentSessions; output: ClosedSessions };
    /** Opens what was closed again, behind what is in front, and waits until it has loaded. */
    "sessions.restore": { input: RestoreSession; output: RestoredTabs };
    /** Runs code in the page, under any content security policy. */
    "page.evaluate": { input: Evaluate; output: Evaluated | EvaluatedObject | EvaluationThrew };
    /** Reads the page as a tree of elements. */
    "page.read": { input: ReadPage; output: PageRead };
    /** Finds elements by words. */
    "page.find": { input: FindElements; output: FoundElements };
    /** Tells what an element can be known by at another time. */
    "page.describe": { input: Named; output: ElementAndView | View };
    /** Waits for an element that was described before; `element_not_found` if there is none, or more than one. */
    "page.locate": { input: LocateElement; output: LocatedElement };
    /** Lists elements. */
    "page.query": { input: QueryElements; output: QueriedElements };
    /** Reads text: that of the element, else of the article or main element if there is one. */
    "page.text": { input: ReadPiece; output: PieceRead };
    /** Reads HTML. */
    "page.html": { input: ReadPiece; output: PieceRead };
    /** Waits for an element; one named by `ref` that goes is `stale_ref`. */
    "page.wait": { input: WaitForElement; output: AwaitedElement };
    /** Tells how an element looks. */
    "page.styles": { input: ElementStyles; output: StyledElement };
    /** Reads what the page's origin keeps in the tab. */
    "page.storage": { input: ReadStorage; output: StorageRead };
    /** Lists the files the page is made of. */
    "page.resources": { input: ListResources; output: ResourceList };
    /** Reads one of these files. */
    "page.resource": { input: ReadResource; output: ResourceRead };
    /** Clicks. */
    "page.click": { input: Click; output: Clicked };
    /** Moves the mouse over something. */
    "page.hover": { input: Hover; output: Acted };
    /** Writes into a field. */
    "page.fill": { input: Fill; output: Filled };
    /** Chooses in a select. */
    "page.select": { input: Select; output: Filled };
    /** Gives a field of any kind a value. */
    "page.set": { input: SetField; output: FieldSet };
    /** Presses keys. */
    "page.press": { input: Press; output: Pressed };
    /** Types text by keys; inserts it where the keyboard has none or the text is long. */
    "page.type": { input: Type; output: Pressed };
    /** Scrolls. */
    "page.scroll": { input: Scroll; output: Scrolled };
    /** Presses in one place and lets go in another. */
    "page.drag": { input: Drag; output: Dragged };
    /** Answers a dialog. */
    "page.dialog": { input: AnswerDialog; output: AnsweredDialog };
    /** Gives files to the page. */
    "page.upload": { input: Upload; output: Uploaded };
    /** Takes a picture. */
    "page.capture": { input: Capture; output: Captured };
    /** Prints the page. */
    "page.pdf": { input: PrintPdf; output: PrintedPdf };
    /** Forces an element into a state, until another document loads or the agent leaves. */
    "page.pseudo": { input: ForcePseudo; output: ForcedPseudo };
    /** Counts which rules of the style sheets are in use, from the first call on. */
    "page.coverage": { input: CssCoverage; output: CssUsage };
    /** Emulates a device, a place, a connection. */
    "page.emulate": { input: Emulate; output: EmulatedNow };
    /** Decides beforehand what the page's site may do. */
    "page.permission": { input: SetPermission; output: PermissionNow };
    /** Tells messages of the console. */
    "record.console": { input: ReadConsole; output: ConsoleRecord };
    /** Forgets these messages. */
    "record.clearConsole": { input: NoInput; output: ClearedConsole };
    /** Tells requests. */
    "record.network": { input: ReadNetwork; output: NetworkRecord };
    /** Tells all of one request. */
    "record.request": { input: ReadRequest; output: RequestRead };
    /** Tells frames of web sockets. */
    "record.sockets": { input: ReadSockets; output: SocketRecord };
    /** Begins to record, from nothing. */
    "record.start": { input: StartRecording; output: StartedRecording };
    /** Stops recording, until `record.start`. */
    "record.stop": { input: NoInput; output: NoOutput };
    /** Holds the tab's requests, those of frames in other processes too. */
    "intercept.start": { input: StartIntercepting; output: StartedIntercepting };
    /** Lists the requests that wait. */
    "intercept.list": { input: ListIntercepted; output: Intercepted };
    /** Answers a request. */
    "intercept.answer": { input: FulfillRequest | FailRequest | ContinueRequest; output: AnsweredRequest };
    /** Holds no more requests; those that wait go on. */
    "intercept.stop": { input: NoInput; output: StoppedIntercepting };
    /** Lists cookies. */
    "cookies.get": { input: NamedCookies; output: CookieList };
    /** Sets a cookie. */
    "cookies.set": { input: SetCookie; output: CookieSet };
    /** Deletes cookies. */
    "cookies.delete": { input: NamedCookies; output: DeletedCookies };
    /** Clears what a site has stored. */
    "site.clear": { input: ClearSiteData; output: ClearedSiteData };
    /** Downloads a file and waits for its end; reports progress. */
    "downloads.start": { input: StartDownload; output: Download };
    /** Lists downloads. */
    "downloads.list": { input: ListDownloads; output: DownloadList };
    /** Describes a download. */
    "downloads.status": { input: DownloadStatus; output: Download };
    /** Saves a file of the server's among the downloads. */
    "downloads.save": { input: SaveFile; output: Download };
    /** Searches visited pages. */
    "history.search": { input: SearchHistory; output: VisitedPages };
    /** Lists visits of a page. */
    "history.visits": { input: ListVisits; output: VisitList };
    /** Searches bookmarks. */
    "bookmarks.search": { input: SearchBookmarks; output: FoundBookmarks };
    /** Makes a bookmark. */
    "bookmarks.create": { input: CreateBookmark; output: Bookmark };
    /** Lists bookmarks. */
    "bookmarks.tree": { input: ListBookmarks; output: BookmarkTree };
    /** Describes the extension. */
    "extension.state": { input: NoInput; output: ExtensionState };
    /** Tells what the worker has noted of itself. */
    "extension.logs": { input: ReadLogs; output: LogLines };
    /** Counts open panels. */
    "extension.panel": { input: NoInput; output: PanelState };
    /** Shows the person a notification. */
    "notices.show": { input: ShowNotice; output: ShownNotice };
  }

  type Input<N extends keyof Commands> = Commands[N]["input"];
  type Output<N extends keyof Commands> = Commands[N]["output"];
  type BrowserCommand = "tabs.list" | "tabs.open" | "windows.list" | "windows.update" | "windows.close" | "groups.list" | "groups.create" | "groups.add" | "groups.remove" | "groups.update" | "sessions.recent" | "sessions.restore" | "downloads.start" | "downloads.list" | "downloads.status" | "history.search" | "history.visits" | "bookmarks.search" | "bookmarks.create" | "bookmarks.tree" | "extension.state" | "extension.logs" | "extension.panel" | "notices.show";
  type TabCommand = "tabs.close" | "tabs.focus" | "tabs.info" | "tabs.group" | "tabs.ungroup" | "tabs.release" | "tabs.navigate" | "page.evaluate" | "page.read" | "page.find" | "page.describe" | "page.locate" | "page.query" | "page.text" | "page.html" | "page.wait" | "page.styles" | "page.storage" | "page.resources" | "page.resource" | "page.click" | "page.hover" | "page.fill" | "page.select" | "page.set" | "page.press" | "page.type" | "page.scroll" | "page.drag" | "page.dialog" | "page.upload" | "page.capture" | "page.pdf" | "page.pseudo" | "page.coverage" | "page.emulate" | "page.permission" | "record.console" | "record.clearConsole" | "record.network" | "record.request" | "record.sockets" | "record.start" | "record.stop" | "intercept.start" | "intercept.list" | "intercept.answer" | "intercept.stop" | "cookies.get" | "cookies.set" | "cookies.delete" | "site.clear" | "downloads.save";
}
