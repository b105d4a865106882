/** What each content script offers to the ones after it. */

interface TabhubDom {
  firstChild(node: Node): Node | null;
  nextSibling(node: Node): Node | null;
  firstElement(element: Element): Element | null;
  lastElement(element: Element): Element | null;
  nextElement(element: Element): Element | null;
  previousElement(element: Element): Element | null;
  isElement(node: Node | null): node is Element;
  isText(node: Node): node is Text;
  tag(element: Element): string;
  attr(element: Element, name: string): string | null;
  has(element: Element, name: string): boolean;
  /** Without any attribute: asking once is cheaper than asking for each. */
  isBare(element: Element): boolean;
  attributeNames(element: Element): string[];
  matches(element: Element, selector: string): boolean;
  closest(element: Element, selector: string): Element | null;
  holdsAny(element: Element, selector: string): boolean;
  rect(element: Element): DOMRect;
  rects(element: Element): DOMRectList;
  /** In the order of the document. */
  isBefore(node: Node, other: Node): boolean;
  isConnected(node: Node): boolean;
  root(node: Node): Document | ShadowRoot;
  /** Open or closed. */
  shadowRoot(element: Element): ShadowRoot | null;
  /** What is rendered inside, through shadow roots and slots. */
  children(element: Element, tag?: string): Node[];
  /** The element around, through slots and shadow hosts. */
  parent(node: Node): Element | null;
  /** Whether `node` is `ancestor` or is rendered inside it. */
  holds(ancestor: Element, node: Node | null): boolean;
  /** Rendered at all: no display: none on it or around it. */
  isRendered(element: Element): boolean;
  /** Rendered and not visibility: hidden. */
  isVisible(element: Element): boolean;
  documentElement(): Element | null;
  /** When a walk of so many milliseconds that begins now has to end. */
  deadline(maxMs: number): number;
  body(): Element | null;
  activeElement(): Element | null;
  contentType(): string;
  /** Whether the document has loaded. */
  isComplete(): boolean;
  markup(element: Element): string;
  queryIn(element: Element, selector: string): Element[];
  range(): Range;
  treeWalker(from: Node, what: number): TreeWalker;
  /** Matches in the document and in every shadow root, in document order. */
  queryDeep(selector: string, within?: Element): Generator<Element>;
  /** Matches in one root. */
  queryAll(within: Document | ShadowRoot, selector: string): Element[];
  /** The root itself, or an element's own shadow root, and those of everything inside. */
  rootsIn(from: Document | ShadowRoot | Element): Generator<Document | ShadowRoot>;
  /** The text inside, rendered or not, up to about a limit. */
  rawText(element: Element, limit: number): string;
  innerText(element: HTMLElement): string;
  isContentEditable(element: HTMLElement): boolean;
}

interface TabhubRange {
  slot: number;
  next: number;
}

interface TabhubRefs {
  adopt(range: TabhubRange): void;
  range(): TabhubRange | undefined;
  mint(element: Element): number;
  resolve(number: number): Element;
}

interface TabhubRoles {
  of(element: Element, tag: string): string;
  isWidget(role: string): boolean;
  isNamedByContent(role: string): boolean;
  /** Holds widgets that have names of their own. */
  isComposite(role: string): boolean;
  isLandmark(role: string): boolean;
  isPlain(role: string): boolean;
  isInline(tag: string): boolean;
  isSkipped(tag: string): boolean;
}

interface TabhubNames {
  clean(text: string): string;
  clip(text: string, length: number): string;
  textOf(element: Element, limit: number): string;
  /** By author's attributes and native markup, without the content. */
  given(element: Element, tag: string, role: string): string;
  hint(element: Element): string;
}

interface TabhubFrameLine {
  line: number;
  depth: number;
  ref: number;
  index: number;
}

interface TabhubSecrets {
  mask(value: string): string;
  isPassword(element: Element): boolean;
  isSecret(element: Element): boolean;
}

interface TabhubLines {
  /** The role of a text. */
  readonly TEXT: string;
  quote(text: string): string;
  /** What a field holds, in one line: `\n` stands between its own. Empty if it holds nothing. */
  value(text: string): string;
  headingLevel(element: Element, tag: string): number;
  /** Attributes and states, with a leading space each. */
  details(element: Element, tag: string, role: string, name: string): string;
}

interface TabhubInteractive {
  isEditable(element: Element): boolean;
  isActive(element: Element, tag: string, role: string): boolean;
  isPointed(element: Element, tag: string): boolean;
  /** Whether it only has listeners, or takes part in drags. */
  isListening(element: Element, tag: string): boolean;
  hiddenControl(element: Element, tag: string): Element | null;
}

/** An element, by its place among all of the document, and what it listens to. */
type TabhubHandled = [number, number];

interface TabhubListening {
  /** How many elements there are. */
  count(): number;
  /** Waits for an event with elements; the count, or null where there are too many. */
  expect(word: string): number | null;
  learn(known: {
    total: number;
    handled: TabhubHandled[];
    /** `root`: where the handler is, -1 for the document. */
    delegated: { root: number; selector: string; kind: number }[];
  }): void;
  /** What it is known to listen to; null for nothing. */
  of(element: Element): { isPress: boolean; isDrag: boolean; isDrop: boolean } | null;
}

interface TabhubAreas {
  isArea(element: Element, tag: string): boolean;
  /** The picture it lies on, if that can be seen. */
  picture(area: Element): Element | null;
  rect(area: Element): DOMRect;
}

interface TabhubGraphics {
  /** Where it is in its frame's viewport. */
  box(element: Element): string;
  isShape(element: Element, tag: string): boolean;
  /** Large enough for its shapes to be listed one by one. */
  isDrawing(svg: Element): boolean;
  drawingOf(element: Element): Element | null;
  /** Something to see that holds nothing: an icon, a patch of colour. */
  isPicture(element: Element, tag: string): boolean;
  /** Whether it is listed although nothing shows that it can be clicked. */
  isGraphic(element: Element, tag: string, role: string): boolean;
  /** Colour and place. */
  look(element: Element): string;
}

interface TabhubPage {
  text: string;
  frames: TabhubFrameLine[];
  /** Whether the text goes to the end; otherwise it is what the whole text begins with. */
  whole: boolean;
}

/** The record of one element that a walk has found. */
interface TabhubItem {
  element: Element;
  role: string;
  name: string;
  /** Attributes and states, with a leading space each. */
  rest: string;
  hasRef: boolean;
}

/** Collects the elements and texts that a walk finds. */
interface TabhubOutline {
  readonly isFull: boolean;
  /** Adds to the text that is gathered for the next line. */
  text(node: Text, depth: number): void;
  gap(): void;
  flush(): void;
  /** Adds a line that stays, and returns its number. */
  add(item: TabhubItem, depth: number): number;
  /** Adds a line that `close` may take back or change. */
  open(item: TabhubItem, depth: number): number;
  /** Structure that holds nothing, or nothing but one text, needs no lines of its own. */
  close(line: number, role: string, name: string): void;
  /** Ends an element that was added: one that only repeats the control in it has no line. */
  closeTarget(line: number): void;
  addFrame(line: number, depth: number, element: Element): void;
  /** An element that the page has shut off with all that is in it. */
  shutOff(element: Element): void;
}

interface TabhubWrittenOutline extends TabhubOutline {
  /** `unfinished`: what is open still, from the outside in, with its line if it has one. */
  page(unfinished: (TabhubStructure | null)[]): TabhubPage;
}

/** A line of a page without its indentation. */
interface TabhubLine {
  item: TabhubItem;
  text: string;
  depth: number;
}

interface TabhubTableRows {
  /** `from`: where what is in the row begins. Null where that is more than one line can hold. */
  line(row: TabhubLine, lines: TabhubLine[], from: number): string | null;
  isCell(role: string): boolean;
}

interface TabhubOutlines {
  /** Whether an element only repeats the control in it. */
  repeats(wrapper: TabhubItem, inner: TabhubItem): boolean;
  /** One that is full once it has more than so many characters. */
  begin(maxChars: number): TabhubWrittenOutline;
}

interface TabhubLabels {
  /** Its own title, without any other name. */
  titleOf(element: Element): string;
  hintOf(element: Element): string;
  /** `quiet`: otherwise the text beside it has a line of its own; `known`: the name around it. */
  nearOf(element: Element, quiet: boolean, known: string): string;
  /** What an element without a name is known by; its place, when nothing else is. */
  lookOf(element: Element, tag: string, name: string): string;
  /** What a list box that a page has made itself shows as chosen. */
  chosenText(element: Element, tag: string): string;
  editedText(element: Element): string;
  graphicName(element: Element, tag: string, role: string): string;
  optionName(option: HTMLOptionElement): string;
  structureName(element: Element, tag: string, role: string): TabhubLabel;
  targetName(element: Element, tag: string, role: string, control: Element | null): TabhubLabel;
}

interface TabhubLabel {
  name: string;
  /** Whether the name contains all the text inside. */
  isWhole: boolean;
}

/** How the content of an element is written. */
interface TabhubManner {
  depth: number;
  /** Whether the text in here has been written already. */
  quiet: boolean;
  /** Whether something around it takes its clicks. */
  pointed: boolean;
  /** Whether it only adorns a control. */
  inWidget: boolean;
  /** The name of the element around it. */
  around: string;
}

/** A line that may be taken back. */
interface TabhubStructure {
  line: number;
  role: string;
  name: string;
  /** Whether it is something that a person could act on. */
  isTarget?: boolean;
}

interface TabhubLineWriter {
  frame(element: Element, tag: string, depth: number): void;
  graphic(element: Element, tag: string, role: string, manner: TabhubManner): void;
  /** At the end of a drawing: lists its shapes that have no name, or how many there are. */
  drawn(drawing: Element, depth: number): void;
  /** `control`: a hidden control, whose state is written in place of the element's. */
  target(
    element: Element,
    tag: string,
    role: string,
    control: Element | null,
    manner: TabhubManner,
  ): TabhubLabel & { line: number };
  /** Null where it means nothing by itself. */
  structure(
    element: Element,
    tag: string,
    role: string,
    manner: TabhubManner,
  ): (TabhubStructure & TabhubLabel) | null;
  options(select: HTMLSelectElement, depth: number): void;
}

interface TabhubLineWriters {
  /** `hasRows`: the cells of a row say what is in it, so that it needs no name. */
  begin(outline: TabhubOutline, hasRows: boolean): TabhubLineWriter;
}

interface TabhubWalkOptions {
  filter: string;
  depth: number;
  maxMs: number;
  /** Whether to enter what the page has shut off (`aria-hidden`, `inert`). */
  isShutToo?: boolean;
  /** Whether the cells of a row are read with it. */
  hasRows?: boolean;
}

interface TabhubWalker {
  /** The first that a reading of it would list, and the text before that. */
  first(root: Element, options: TabhubWalkOptions): { item: TabhubItem | null; text: string };
  read(root: Element, options: TabhubWalkOptions & { maxChars: number }): TabhubPage;
  /** Returns whether it reached the end. */
  walk(root: Element, options: TabhubWalkOptions, outline: TabhubOutline): boolean;
}

interface TabhubSizes {
  maxChars: number;
  maxMs: number;
}

/** Where in a text a frame stands. */
interface TabhubFrameMark {
  at: number;
  ref: number;
  index: number;
}

/** A text that frames belong into; `whole` as in a page. */
interface TabhubPiece {
  text: string;
  frames: TabhubFrameMark[];
  whole: boolean;
}

interface TabhubReader {
  read(root: Element, sizes: TabhubSizes): TabhubPiece;
}

interface TabhubMainContent {
  find(): Element | null;
}

interface TabhubSynonyms {
  /** Phrases that mean the same have the same number. */
  concepts: Map<string, number>;
  /** Words for what a control does, and the numbers of those that mean the same. */
  actions: Set<string | number | undefined>;
  roles: Map<string, Set<string>>;
  empty: Set<string>;
  soft: Set<string>;
}

interface TabhubSpelling {
  /** From 0 (not at all) to 1 (the same). */
  likeness(wanted: string, word: string): number;
}

interface TabhubQuery {
  /**
   * `rowText`: the text of the row that the item is in. `isNear`: only a part of it matches.
   * `missing`: how many words of the query are nowhere.
   */
  match(
    item: TabhubItem,
    rowText?: () => string,
  ): { score: number; reason: string; isNear: boolean; missing: number } | null;
}

interface TabhubMatching {
  query(text: string): TabhubQuery;
}

interface TabhubDialogs {
  isShutOff(element: Element): boolean;
  /** The dialog or menu that is open, if there is one. */
  inFront(): Element | null;
  /** The dialog outside of which the browser has made everything inert. */
  modal(): Element | null;
  describe(element: Element): { ref: string; role: string; name: string };
}

interface TabhubFindOptions {
  query: string;
  limit: number;
  /** How much worse than the best a match may be. */
  share: number;
  maxMs: number;
}

/** What an element was known by. */
interface TabhubKnown {
  selector?: string;
  role: string;
  name: string;
}

/** What a person was asked about, as this document described it then. */
interface TabhubConfirmed {
  ref: number;
  role: string;
  name: string;
  position?: number;
}

interface TabhubAsked {
  /** What a person is asked about: an element, or the control at a point. */
  find(how: TabhubHow & { point?: TabhubPoint }): Element;
  /** How it is named; the page as a whole has the role `page`. */
  describe(element: Element): {
    ref: number;
    role: string;
    name: string;
    sensitive: boolean;
    /** Another number if the page has moved it, or lets it lead elsewhere. */
    position: number;
  };
  /** Refuses if it is not what the person said yes to: pages use elements again for other things. */
  requireSame(confirmed?: TabhubConfirmed, point?: TabhubPoint): void;
  /** Outlines an element until the time is over or `end` is called. */
  outline(order: { ref: number; milliseconds: number }): void;
  end(): void;
}

interface TabhubDurable {
  label(element: Element): { role: string; name: string };
  describe(element: Element): { selectors: string[]; role: string; name: string };
  locate(known: TabhubKnown, by: "selector" | "label", maxMs: number): string[];
}

interface TabhubFind {
  /** Everything that can be found. */
  /** `isRead`: all of the page was walked in time. */
  items(maxMs: number): { items: TabhubItem[]; isRead: boolean };
  /** What the rows around elements say, each read once. */
  rows(): { around(element: Element): { text: string; isOfTable: boolean } | null };
  /** An element with more in it than this one's text; a landmark or list is one itself. */
  partAround(element: Element): Element;
  find(options: TabhubFindOptions): {
    matches: object[];
    total: number;
    /** Matches that are shut off; only if nothing else matches. */
    hidden: object[];
    /** Those that match in part; only if nothing else matches. */
    nearest: object[];
    whole: boolean;
    isLoading: boolean;
  };
}

interface TabhubWordTargets {
  seek(options: { words: string; kind: string; maxMs: number }): {
    candidates: {
      ref: number;
      role: string;
      name: string;
      /** What the row around it says, if that is more. */
      row: string;
      score: number;
      missing: number;
    }[];
    whole: boolean;
    /** How many elements were looked at. */
    size: number;
    tookMs: number;
  };
}

interface TabhubDescribed {
  ref: string;
  tag: string;
  text: string;
  attributes: Record<string, string>;
}

interface TabhubElements {
  describe(element: Element, attributes?: string[]): TabhubDescribed;
  /** Elements in the document, or inside the one that `ref` names; without a selector that one. */
  query(body: { selector?: string; ref?: number; limit: number; attributes?: string[] }): {
    elements: TabhubDescribed[];
    total: number;
  };
  styles(element: Element, properties?: string[]): object;
}

interface TabhubWanted {
  selector: string;
  /** In the place of a selector: this very element. */
  ref?: number;
  visible: boolean;
  /** Only whether something matches: that it does, or that nothing does any longer. */
  gone?: boolean;
}

type TabhubFound = TabhubDescribed & { visible: boolean };

interface TabhubWaiting {
  look(wanted: TabhubWanted): TabhubFound | null;
  /** Null when it was stopped or took too long. */
  wait(id: number | string, wanted: TabhubWanted, maxMs: number): Promise<TabhubFound | null>;
  /** Whether something matches, after waiting until it does, or with `gone` until nothing does. */
  match(id: string, wanted: { selector: string; gone: boolean }, maxMs: number): Promise<boolean>;
  stop(id: number | string): void;
}

interface TabhubPoint {
  x: number;
  y: number;
}

interface TabhubChildFrames {
  /** Whether the page lets the frame with this number publish tools, if it has this origin. */
  allowsTools(child: { index: number; origin: string }): boolean;
  toolPolicy(): boolean | null;
  /** Which of the parent's frames this window is, -1 when it is not among them. */
  ownIndex(): number;
  indexOf(element: Element): number;
  announce(): { ref: number; nonce: string }[];
  listen(): void;
  /** The nonce that the parent has sent; null if none came. */
  nonce(): Promise<string | null>;
  /** A point in the frame, as a point in this document. */
  outward(place: { ref?: number; index?: number } & TabhubPoint): TabhubPoint;
  /** The same, for a press: brings it into view, and refuses what covers it. */
  through(place: { ref?: number; index?: number } & TabhubPoint): TabhubPoint;
  /** The frame that shows a point of this document, and where in it that is. */
  within(element: Element, point: TabhubPoint): TabhubWithin | null;
}

interface TabhubWithin {
  ref: number;
  index: number;
  point: TabhubPoint;
}

interface TabhubPoints {
  /** What is at a point; refuses where there is nothing. */
  at(point: TabhubPoint): Element;
  /** A point of the viewport, or of the page, as one of the viewport. */
  inViewport(point: Partial<TabhubPoint> & { pageX?: number; pageY?: number }): TabhubPoint;
  frameAt(point: TabhubPoint): TabhubWithin | null;
}

interface TabhubSynthetic {
  /** Whether the page lets the browser go on. */
  send(element: Element, event: Event): boolean;
  /** What the bits of the debugger mean. */
  modifiers(bits: number): EventModifierInit;
}

interface TabhubPress {
  button: string;
  buttons: number;
  clickCount: number;
  modifiers: number;
}

interface TabhubMouse {
  click(point: TabhubPoint, press: TabhubPress): void;
  hover(point: TabhubPoint): void;
  /** Whether the page has taken it, or something has scrolled. */
  wheel(point: TabhubPoint, by: TabhubPoint): boolean;
}

interface TabhubKeyEvent {
  type: string;
  modifiers: number;
  key: string;
  code: string;
  windowsVirtualKeyCode: number;
  text?: string;
}

interface TabhubWriting {
  mayWrite(element: Element): boolean;
  /** By a command of the browser's editor; returns whether it was done. */
  edit(command: string, text?: string): boolean;
  /** `isWhole`: it replaces all that the field holds. */
  write(text: string, isWhole?: boolean): void;
  /** All that the field holds, past what a page library has put in the way. */
  set(element: HTMLInputElement | HTMLTextAreaElement, value: string): void;
}

interface TabhubEditorWriting {
  write(editor: TabhubEditor, text: string, clear: boolean): void;
}

interface TabhubKeyboard {
  play(events: TabhubKeyEvent[]): void;
  /** Only the page's listeners get it. */
  announce(element: Element, event: TabhubKeyEvent): void;
}

interface TabhubField {
  look(element: Element): {
    kind: "switch" | "radio" | "value";
    /** What it holds, or whether it is on. */
    before: string;
    sensitive: boolean;
    /** What is to be pressed or filled. */
    ref: number;
  };
}

interface TabhubHit {
  at(point: TabhubPoint): Element | null;
  /** Whether a press that lands on `hit` acts on `element`. */
  reaches(element: Element, hit: Element | null): boolean;
  /** The same for the target of an event, as far as closed shadow roots let us see it. */
  receives(element: Element, deepest: EventTarget | undefined): boolean;
  describe(element: Element): string;
}

interface TabhubHow {
  ref?: number;
  selector?: string;
}

interface TabhubTarget {
  requireSelector(selector: string): void;
  has(selector: string): boolean;
  find(how: TabhubHow): Element;
  /**
   * `scrolls`: where in the viewport it may be brought, in turn; `isPlace`: nothing has to arrive.
   * The error for an element that cannot be seen contains its current place.
   */
  aim(
    element: Element,
    options?: { mayBeDisabled?: boolean; scrolls?: ScrollLogicalPosition[]; isPlace?: boolean },
  ): TabhubPoint;
  refuseDisabled(element: Element): void;
  /** Brings it into view. */
  box(element: Element): { x: number; y: number; width: number; height: number };
  showPart(element: Element): void;
}

/** `line`: what shows a line of an editor whose input does not hold its text. */
interface TabhubEditor {
  root: Element;
  /** What takes the keys. */
  input: Element;
  line?: string;
}

interface TabhubEditors {
  /** The editor that an element belongs to. */
  around(element: Element): TabhubEditor | null;
  /** The same, or the only one in the element. */
  of(element: Element): TabhubEditor | null;
  isInput(element: Element): boolean;
  /** What a person would press to write there. */
  surface(element: Element): Element;
  /** The lines that an editable element shows; with a limit, those of its first nodes. */
  text(element: Element, mostNodes?: number): string;
}

interface TabhubValues {
  current(element: Element): string;
  /** The value as it may be reported: dots in place of secrets. */
  shown(element: Element, value: string): string;
}

interface TabhubChoose {
  /** By value or else by label. */
  either(select: HTMLSelectElement, wanted: string): void;
  /** These options and no others. */
  options(element: Element, by: "value" | "label", wanted: string[]): void;
}

interface TabhubFocus {
  /** Whether the element then has the focus. */
  take(element: Element): boolean;
  /** Whether keys go to this document, and not to a frame in it. */
  isHere(): boolean;
  /**
   * Takes the focus back from a frame, for the element that had it last; `field`: only if that is a
   * field for text. Returns whether keys go to this document now.
   */
  regain(wanted?: { field?: boolean }): boolean;
  /** The element that keys would go to now. */
  receiver(): Element | null;
  /** Whether a field for text had the focus last. */
  hasField(): boolean;
  /** Whether the element that had the focus last holds a secret. */
  wasSecret(): boolean;
  /** The element that keys go to from now on. */
  begin(): Element | null;
  /** Whether a result can say what it holds: a box is on or off instead. */
  tells(element: Element): boolean;
  /**
   * `held` and `editor`: as for what is filled in; `isKey`: for one key, whose field is meant even
   * if the focus has moved on.
   */
  after(options: { held?: string | null; isKey?: boolean }): {
    value?: string;
    focused?: string;
    sensitive: boolean;
    editor?: number;
    /** What got the last key, if it is no field. */
    receivedBy?: string;
    /** How many characters the page kept from being written, if none were. */
    prevented?: number;
  };
  /**
   * What got the last key, or what has the focus now, by name and ref; empty if nothing has the
   * focus.
   */
  where(asked?: { isNow?: boolean }): string;
  /** The element that has the focus, in shadow roots too. */
  deepest(): Element | null;
  isInFrame(): boolean;
  /** The frame in this document that has the focus. */
  frame(): { ref: number; index: number } | null;
  /** Gives it to what a press at an element would give it to. */
  press(element: Element): void;
  isText(element: Element): boolean;
  /** The element that text is typed into; refuses where there is none. */
  typing(): { element: Element; isText: boolean };
}

interface TabhubOrder {
  direction?: string;
  distance?: number;
  to?: Partial<TabhubPoint>;
  /** The element itself is to be scrolled, and nothing around it. */
  isContainer?: boolean;
}

interface TabhubScrolled {
  moved: boolean;
  position: TabhubPoint & { maxX: number; maxY: number };
  wheel?: { at: TabhubPoint; by: TabhubPoint };
}

interface TabhubScroll {
  run(element: Element | null, order: TabhubOrder): Promise<TabhubScrolled>;
  /** Remembers where all that scrolls around an element is. */
  note(element: Element): void;
  /** What scrolls there, and can, is moved. */
  push(element: Element, by: TabhubPoint): boolean;
  /** What has become of that, once it has come to rest. */
  rested(): Promise<{ moved: boolean; position?: TabhubScrolled["position"] }>;
}

interface TabhubWindowEvents {
  /** Adds a listener that gets the events before the page does. */
  on(
    names: Iterable<string>,
    listener: (event: any) => void,
    options?: { passive?: boolean },
  ): void;
  /** Whether the page has removed the listeners, and may have added its own before ours. */
  isLate(): boolean;
  onLate(listener: () => void): void;
}

interface TabhubGuard {
  /** Without a number, no press is expected; `requireSame` fails if it is not to be pressed. */
  expectPress(element: Element, number: number | undefined, requireSame?: () => void): void;
  /** For a press that is made by a script: fails if what is expected is not to be pressed now. */
  requireSame(): void;
  expectKeys(): void;
  refuseKeys(): void;
  /** How many keys have arrived since they are expected. */
  keys(): number;
  /** The keys that have come since they are expected, and what got them. */
  arrivals(): { event: KeyboardEvent; target: EventTarget | undefined }[];
  expectDrop(number: number): void;
  /** The worker that expected something is gone. */
  expectNothing(): void;
  /** Called with what a press would have hit, and whether that is what was meant, but changed. */
  onRefusal(listener: (by: string, isChanged: boolean) => void): void;
}

interface TabhubEvidence {
  /** `by` is press, hover, key, type or wheel. */
  expect(element: Element, by?: string): void;
  arrived(): boolean;
  /** Whether the link that was clicked opens in another tab. */
  opens(): boolean;
  /** The scheme of the link that was clicked, if another program opens such links. */
  outside(): string | undefined;
  /** Whether a drag of data has begun. */
  dragging(): boolean;
  hovered(): boolean;
  /** An event that is ours is as good as one of the browser's. */
  vouch(event: Event): void;
  /** Called when an expected press has come. */
  onArrival(listener: () => void): void;
}

/** The part of the Navigation API's event that is used here. */
interface TabhubNavigateEvent extends Event {
  destination: { sameDocument: boolean };
  downloadRequest: string | null;
}

interface TabhubSettle {
  /** `editor`: that of the element; some draw their text only in the next frame. */
  arm(element: Element, editor?: TabhubEditor | null): void;
  disarm(): void;
  rest(): Promise<{ mutated: boolean; navigating: boolean; downloading: boolean }>;
}

interface TabhubTasks {
  /** When a task that begins now has its turn. */
  next(): Promise<unknown>;
  /** When what the page has put off until it draws has been done, if it draws. */
  frame(): Promise<unknown>;
  /** When what the page has put off by a timer without a delay has been done, if timers run. */
  afterTimers(): Promise<void>;
}

/** What an action has changed. */
interface TabhubNotes {
  target: Element;
  focused: Element | null;
  added: Set<Node>;
  removed: Set<Element>;
  changed: Map<Element, Set<string>>;
  retold: Set<Element>;
  loose: Set<Text>;
  invalid: Set<HTMLElement>;
  hidden: Set<Element>;
  /** What lay over the page. */
  overlays: Element[];
  isFull: boolean;
  isUnseen(node: Node | null): boolean;
  otherFields(): Element[];
  wasUnchecked(field: Element): boolean;
}

interface TabhubHiddenElements {
  /**
   * In a part of a large page: what is not shown, without what is inside it; what is shown and lies
   * over the page; and the shadow roots of components.
   */
  find(target: Element): { hidden: Element[]; overlays: Element[]; roots: ShadowRoot[] };
}

interface TabhubChangeNotes {
  /** The next action is to be noted. */
  expect(): void;
  /** `found` gets the shadow roots of components elsewhere in the page. */
  begin(target: Element, found: (root: ShadowRoot) => void): void;
  lookForHidden(): void;
  note(records: MutationRecord[]): void;
  now(): TabhubNotes | null;
  /** Ends it. */
  take(): TabhubNotes | null;
}

/** Lines within a limit, each element at most once. */
interface TabhubChangedLines {
  readonly text: string;
  isCut: boolean;
  has(element: Element): boolean;
  add(line: string): void;
  /** Only its own line. */
  line(element: Element, more?: string): void;
  /** With all that is inside it. */
  tree(element: Element): void;
}

interface TabhubChangeList {
  begin(maxChars: number): TabhubChangedLines;
  /** Selectors: of dialogs, and of what else lies over a page. */
  kinds: string[];
  isDialog(element: Element): boolean;
  /** Whether its line says what is inside it. */
  isLeaf(element: Element): boolean;
  lineOf(element: Element): string;
  quoted(text: string): string;
  /** How important it is: a dialog, something that lies over the page, or anything else. */
  rank(element: Element): number;
  roleOf(element: Element): string;
}

interface TabhubChangeLines {
  /** `isValueKnown`: the result says what the target holds; `mayAskAgain`: the notes are kept. */
  write(options: {
    maxChars: number;
    isValueKnown: boolean;
    mayAskAgain: boolean;
  }): { lines: string; whole: boolean } | null;
}

/**
 * `isDone`: it shows something, with no sign of loading over it; `hasFrames`: it has frames that a
 * person would see; `mayDraw`: scripts may still add something.
 */
interface TabhubSeen {
  shows: boolean;
  isDone: boolean;
  hasFrames: boolean;
  mayDraw: boolean;
}

type TabhubAwaited = TabhubSeen & { isQuiet: boolean };

interface TabhubFirstContent {
  look(): TabhubSeen;
  /** Ends when the page is done, or has not changed for `quietMs`. */
  wait(how: { maxMs: number; quietMs: number }): Promise<TabhubAwaited>;
}

interface TabhubFill {
  /**
   * Pages get `events`, those of the last key. `begin` is called before the value is put in.
   * `byEvents`: by events of ours, which are not as a person's; `isLate`: the text is prepared, and
   * `insert` puts it in.
   */
  fill(
    element: Element,
    text: string,
    clear: boolean,
    events: TabhubKeyEvent[],
    begin: () => void,
  ): { typed: boolean; isLate?: boolean; sensitive: boolean; byEvents?: boolean };
  choose(element: Element, work: () => void): { typed: boolean; sensitive: boolean };
  /** `held`: what an editor's own API says that it holds; `editor`: the ref of one to ask first. */
  filled(held?: string | null): { value: string; editor?: number };
  /** The same, if no editor need be asked and the field has taken what was filled in. */
  holds(): { value: string } | undefined;
  /** Puts in the text that `fill` has prepared. */
  insert(
    events: TabhubKeyEvent[],
    begin: () => void,
  ): { typed: boolean; sensitive: boolean; byEvents?: boolean };
}

interface TabhubStorage {
  /** Those of which there is room for. */
  read(wanted: { storageType: string; key?: string }): {
    entries: [string, string][];
    total: number;
  };
  /** Gets, sets or removes one entry, or lists the keys. */
  use(order: {
    area: string;
    action: "get" | "set" | "remove" | "keys";
    key?: string;
    value?: string;
  }): { value: string | null } | { keys: string[] };
}

interface TabhubFileName {
  name: string;
  mimeType: string;
}

interface TabhubFile {
  name: string;
  size: number;
}

interface TabhubAccept {
  /** Those of the files that an input with this attribute does not want. */
  misfits(accept: string, files: TabhubFileName[]): TabhubFileName[];
}

interface TabhubUploadTarget {
  ref?: number;
  selector?: string;
  point?: TabhubPoint;
  /** What the debugger has shown. */
  isShown?: boolean;
}

interface TabhubUpload {
  /** Where files would go; refuses what takes none. */
  plan(
    how: TabhubUploadTarget,
    files: TabhubFileName[],
  ): { kind: "input" | "drop"; tag: string; misfits: string[] };
  /** The next piece of a file, in base64. */
  add(index: number, data: string): void;
  watch(): void;
  /** Whether they were taken. */
  put(files: TabhubFileName[]): boolean;
  /** Whether what is dragged over the page now may be dropped there. */
  takesDrop(): Promise<boolean>;
  /** The files as the page has seen them; null if it has seen none. */
  result(): TabhubFile[] | null;
  /** Hands the element to the script that knows the word, in another world of this document. */
  show(word: string, element?: Element): void;
  expect(word: string): void;
  hasShown(): boolean;
  /** The input that the debugger has passed to this script. */
  shown(): Element;
}

type TabhubProgress = (report: { progress?: unknown; total?: unknown; message?: unknown }) => void;

interface TabhubToolLimits {
  readonly MAX_TOOLS: number;
  /** The longest text of one message or result. */
  readonly MAX_TEXT: number;
  isRecord(value: unknown): value is Record<string, unknown>;
  /** Tools as JSON, by their names, and how many had to be left out. */
  list(items: any[]): {
    texts: Map<string, string>;
    leftOut: { many: number; large: number; invalid: number };
  };
  /** What a page sends along with its tools, and gets back with calls; undefined for nothing. */
  extensions(value: unknown): Record<string, unknown> | undefined;
  /** The same value, if it is a result of a bearable size. */
  result(value: unknown): object;
  /** A result of what WebMCP returns. */
  fromText(text: unknown): Record<string, unknown>;
  message(error: unknown): string;
}

interface TabhubRateLimit {
  make(
    most: number,
    perSecond: number,
    now?: () => number,
  ): {
    /** Whether there was one left; it is taken. */
    take(): boolean;
    /** It happens anyway, and is made up for later. */
    spend(cost: number): void;
    /** In how many milliseconds there will be one left. */
    wait(): number;
  };
}

interface TabhubSizeLimit {
  /** A value as JSON of at most so many characters, or why it is none. */
  write(value: unknown, most: number): { fault: "" | "large" | "invalid"; text: string };
}

interface TabhubToolRate {
  make(now: () => number): {
    /** In how many milliseconds the next change may be reported. */
    wait(): number;
    reported(characters: number): void;
    /** There was nothing to report. */
    inVain(): void;
  };
}

/** What tells messages of plugins apart, in one document. */
interface TabhubPluginNames {
  /** The name of the events that report progress. */
  channel: string;
  logNonce: string;
  readinessNonce: string;
}

interface TabhubPlugins {
  listen(names: TabhubPluginNames): void;
  /** The answer of what the worker has installed in the page's own world. */
  run(body: { channel: string; order: object }): Promise<object | null>;
  connected(post: (message: object) => void): void;
}

interface TabhubPageRequest {
  id: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  bodyBase64?: string;
  /** Match patterns. */
  allowed: string[];
  stream: boolean;
  /** The largest body that is returned at once. */
  mostBytes: number;
}

interface TabhubPageResponse {
  status: number;
  url: string;
  headers: Record<string, string>;
  bodyBase64?: string;
  /** In the place of the body: the id of the request. */
  stream?: string;
}

interface TabhubPageRequests {
  send(request: TabhubPageRequest): Promise<TabhubPageResponse>;
  /** The next bytes of a stream. */
  read(body: { id: string }): Promise<{ bodyBase64: string; done: boolean }>;
  /** Ends a request, or its stream. */
  close(body: { id: string }): void;
}

declare const tabhubIsMatch: {
  (patterns: { urlPatterns: string[]; excludePatterns: string[] }, address: string): boolean;
  /** The text of a function that makes this one. */
  readonly source: string;
};

/** One way by which pages publish tools. */
interface TabhubToolSource {
  kind: "native" | "mcp-b" | "polyfill";
  isThere(): boolean;
  /** Whether it has to be polled, because it does not report changes of its tools. */
  polls(): boolean;
  capabilities(): any;
  extensions(): unknown;
  onChange(listener: () => void): void;
  list(): Promise<any[]>;
  call(
    name: string,
    args: object,
    how: {
      signal: AbortSignal;
      progress: TabhubProgress;
      extensions?: Record<string, unknown>;
    },
  ): Promise<any>;
}

/** Requests that wait for their answers; `Note` is what the sender keeps with each. */
declare class TabhubCorrelator<Note = undefined> {
  nextId(): number;
  /**
   * Waits for the answer to what `send` sends, which may settle it itself. With `late`, not longer
   * than `timeoutMs`. Ids are counted unless one is given.
   */
  request(
    send: (id: any) => void,
    how?: { id?: string | number; note?: Note; timeoutMs?: number; late?: () => Error },
  ): Promise<any>;
  has(id: unknown): boolean;
  noteOf(id: unknown): Note | undefined;
  /** Ends the request, with the error if there is one. An id without a request is ignored. */
  settle(id: unknown, error: unknown, result?: unknown): void;
  failAll(makeError: () => Error): void;
}

interface TabhubPageAccess {
  isAllowed(): boolean;
  onChange(listener: (isAllowed: boolean) => void): void;
  set(body: { isAllowed: boolean }): void;
}

interface TabhubMcpSource extends TabhubToolSource {
  receive(payload: unknown): void;
}

interface TabhubMcpClient {
  make(kind: TabhubToolSource["kind"], post: (payload: unknown) => void): TabhubMcpSource;
}

interface TabhubFramedSource extends TabhubToolSource {
  /** What came from this document's server by way of the parent's window. */
  receive(payload: unknown): void;
  /** Sends the parent the name of this document's window. */
  introduce(): void;
  connected(say: (message: object) => void): void;
}

interface TabhubWindowMessages {
  /** How names of windows begin. */
  readonly PREFIX: string;
  /** Passes a message on to a child's window. */
  forward(message: { name: string; origin: string; payload: unknown }): void;
  /** The worker knows no document of this name in such a place. */
  forget(message: { name: string }): void;
  connected(say: (message: object) => void): void;
}

interface TabhubToolList {
  connected(say: (message: object) => void): void;
  call(body: {
    callId: string;
    toolName: string;
    args: object;
    extensions?: unknown;
    maxMs?: number;
  }): Promise<{ success: boolean; payload: object | string }>;
  stop(body: { callId: string }): void;
  /** An agent uses the tab: a page that had no tools may have some by now. */
  used(): void;
}

interface TabhubParts {
  rateLimit: TabhubRateLimit;
  sizeLimit: TabhubSizeLimit;
  toolLimits: TabhubToolLimits;
  toolRate: TabhubToolRate;
  nativeTools: TabhubToolSource;
  pageAccess: TabhubPageAccess;
  mcpClient: TabhubMcpClient;
  mcpSource: TabhubMcpSource;
  windowMessages: TabhubWindowMessages;
  framedSource: TabhubFramedSource;
  bridgedSource: TabhubMcpSource & { readonly name: string };
  toolList: TabhubToolList;
  plugins: TabhubPlugins;
  pageRequests: TabhubPageRequests;
  dom: TabhubDom;
  refs: TabhubRefs;
  roles: TabhubRoles;
  names: TabhubNames;
  secrets: TabhubSecrets;
  lines: TabhubLines;
  interactive: TabhubInteractive;
  graphics: TabhubGraphics;
  areas: TabhubAreas;
  outlines: TabhubOutlines;
  tableRows: TabhubTableRows;
  labels: TabhubLabels;
  writer: TabhubLineWriters;
  walker: TabhubWalker;
  prose: TabhubReader;
  markup: TabhubReader;
  mainContent: TabhubMainContent;
  synonyms: TabhubSynonyms;
  spelling: TabhubSpelling;
  matching: TabhubMatching;
  dialogs: TabhubDialogs;
  listening: TabhubListening;
  find: TabhubFind;
  elements: TabhubElements;
  durable: TabhubDurable;
  asked: TabhubAsked;
  waiting: TabhubWaiting;
  childFrames: TabhubChildFrames;
  hit: TabhubHit;
  points: TabhubPoints;
  target: TabhubTarget;
  values: TabhubValues;
  editors: TabhubEditors;
  choose: TabhubChoose;
  focus: TabhubFocus;
  scroll: TabhubScroll;
  windowEvents: TabhubWindowEvents;
  guard: TabhubGuard;
  evidence: TabhubEvidence;
  synthetic: TabhubSynthetic;
  mouse: TabhubMouse;
  writing: TabhubWriting;
  editorWriting: TabhubEditorWriting;
  keyboard: TabhubKeyboard;
  wordTargets: TabhubWordTargets;
  tasks: TabhubTasks;
  hiddenElements: TabhubHiddenElements;
  changeNotes: TabhubChangeNotes;
  changeList: TabhubChangeList;
  changeLines: TabhubChangeLines;
  firstContent: TabhubFirstContent;
  settle: TabhubSettle;
  fill: TabhubFill;
  field: TabhubField;
  storage: TabhubStorage;
  accept: TabhubAccept;
  upload: TabhubUpload;
  port: object;
}

declare const tabhub: Readonly<TabhubParts> & {
  define<Name extends keyof TabhubParts>(name: Name, make: () => TabhubParts[Name]): void;
  fail(reason: TabhubReason, message: string, data?: object): never;
  quoted(words: string): string;
};
