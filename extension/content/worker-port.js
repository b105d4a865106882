/**
 * The port to the service worker, open as long as the document lives, and the list of what the
 * worker may ask.
 */
tabhub.define("port", () => {
  const {
    asked,
    changeLines,
    changeNotes,
    choose,
    editors,
    evidence,
    field,
    fill,
    firstContent,
    focus,
    points,
    scroll,
    secrets,
    settle,
    target,
  } = tabhub;
  const { guard, keyboard, mouse, windowEvents, writing } = tabhub;
  const { childFrames, refs, storage, upload, walker, dom } = tabhub;
  const { durable, elements, find, framedSource, listening, mainContent, markup } = tabhub;
  const {
    pageAccess,
    pageRequests,
    plugins,
    toolList,
    prose,
    windowMessages,
    waiting,
    wordTargets,
  } = tabhub;
  const CALM_MS = 1000;
  /** What only ends an expectation, or says what holds from now on. */
  const NEVER_LATE = new Set(["refuseKeys", "mayPublish", "closeRequest"]);
  /** @type {chrome.runtime.Port | null} */
  let port = null;
  let connectedAt = 0;
  let briefLives = 0;
  let restUntil = 0;
  /** Whether an order in the same message was not carried out: then nobody waits for its effects. */
  let isNotDone = false;

  /** @param {any} body */
  function minting(body, /** @type {() => unknown} */ work) {
    refs.adopt(body.range);
    const value = work();
    return { value, next: refs.range()?.next };
  }

  /** @param {any} how `isPart`: the part of the page that the element belongs to */
  function part({ isPart, ...how }) {
    const element = target.find(how);
    return isPart ? find.partAround(element) : element;
  }

  /** @param {any} body */
  function read({ how, ...options }) {
    const start = how ? part(how) : dom.documentElement();
    const page = start ? walker.read(start, options) : { text: "", frames: [], whole: true };
    return { ...page, index: childFrames.ownIndex() };
  }

  /** @param {any} body */
  async function wait({ id, maxMs, range, ...wanted }) {
    refs.adopt(range);
    const value = await waiting.wait(id, wanted, maxMs);
    return { value, next: refs.range()?.next };
  }

  /**
   * @param {any} body
   * @param {TabhubReader} reader
   * @param {() => Element | null} wholePage
   */
  function piece({ how, ...sizes }, reader, wholePage) {
    const root = how ? part(how) : wholePage();
    const none = { text: "", frames: [], whole: true };
    const tag = root ? dom.tag(root) : "";
    return { ...(root ? reader.read(root, sizes) : none), tag, index: childFrames.ownIndex() };
  }

  /** @param {any} body */
  function text(body) {
    const wholePage = body.isMain ? mainContent.find : dom.body;
    return piece(body, prose, wholePage);
  }

  /** @param {any} body `isGuess`: the element may be in another frame */
  function aim({ by, mayBeDisabled, scrolls, press, confirmed, isGuess, ...how }) {
    if (isGuess && !target.has(how.selector)) return null;
    const requireSame = () => asked.requireSame(confirmed);
    requireSame();
    const element = editors.surface(target.find(how));
    const isPlace = by === "nothing";
    const point = target.aim(element, { mayBeDisabled, scrolls, isPlace });
    if (!isPlace) watch(element, by);
    if (!isPlace) guard.expectPress(element, press, requireSame);
    return point;
  }

  /** @param {any} body */
  function aimAtPoint({ x, y, by, mayBeDisabled, press, confirmed }) {
    const requireSame = () => asked.requireSame(confirmed, { x, y });
    requireSame();
    const element = points.at({ x, y });
    if (by === "nothing") return;
    if (!mayBeDisabled) target.refuseDisabled(element);
    if (by === "wheel") scroll.note(element);
    watch(element, by);
    guard.expectPress(element, press, requireSame);
  }

  /** @param {TabhubHow & {isFocus?: boolean, isShown?: boolean}} body */
  function askedElement({ isFocus, isShown, ...how }) {
    if (isShown) return upload.shown();
    if (!isFocus) return asked.find(how);
    return focus.receiver() ?? tabhub.fail("not_visible", "The page shows nothing.");
  }

  function startTyping() {
    const { element, isText } = focus.typing();
    watch(element, "type");
    guard.expectKeys();
    return { sensitive: secrets.isSecret(element), isText };
  }

  /**
   * @param {Element} element
   * @param {string} [by]
   */
  function watch(element, by) {
    evidence.expect(element, by);
    settle.arm(element);
  }

  /**
   * Puts a value into a field, unless the worker has to ask again.
   * @param {any} body `promptly`: until when this may be done; `isCaught`: the worker catches file
   *   choosers; `isGuess`: the element may be in another frame
   * @param {() => {typed: boolean, isLate?: boolean}} work
   */
  function put({ promptly, isCaught, isGuess, selector }, work) {
    if (isGuess && !target.has(selector)) return notDone("elsewhere");
    // The call of an order that comes late may have ended; and where someone has just acted, the
    // page could open a file chooser before the worker catches choosers.
    const mayOpenChooser = !isCaught && navigator.userActivation.isActive;
    if (mayOpenChooser || Date.now() > promptly) return notDone("yet");
    const { isLate, ...done } = work();
    return isLate ? { ...done, ...notDone("late") } : done;
  }

  /** @param {string} why */
  function notDone(why) {
    isNotDone = true;
    return { notDone: why };
  }

  /** If a dialog opens from here on, nothing else says that the value goes in. */
  function begin() {
    post(port, { type: "news" });
  }

  /** @param {any} body */
  function startFill(body) {
    asked.requireSame(body.confirmed);
    const element = target.find(body);
    settle.arm(element, editors.of(element));
    changeNotes.lookForHidden();
    return fill.fill(element, body.text, body.clear, body.events, begin);
  }

  /** @param {any} body the page may have changed while it was busy */
  function fillIn({ confirmed, events }) {
    asked.requireSame(confirmed);
    return fill.insert(events, begin);
  }

  /** @param {any} body */
  function select({ by, wanted, confirmed, ...how }) {
    asked.requireSame(confirmed);
    const element = target.find(how);
    settle.arm(element);
    changeNotes.lookForHidden();
    begin();
    return fill.choose(element, () => choose.options(element, by, wanted));
  }

  /** @param {any} how without an element: the one that has the focus */
  function takeFocus({ confirmed, ...how }) {
    asked.requireSame(confirmed);
    if (how.ref !== undefined || how.selector !== undefined) {
      const named = target.find(how);
      const element = editors.of(named)?.input ?? named;
      settle.arm(element);
      target.refuseDisabled(element);
      target.showPart(editors.surface(element));
      if (!focus.take(element)) {
        tabhub.fail("invalid_arguments", "This element takes no focus, so it gets no keys.");
      }
    }
    const active = focus.begin();
    if (!active) return tabhub.fail("not_visible", "The page shows nothing.");
    watch(active, "key");
    guard.expectKeys();
    return { sensitive: secrets.isSecret(active), isText: focus.isText(active) };
  }

  /** @param {any} body */
  function watchUpload({ confirmed }) {
    asked.requireSame(confirmed);
    upload.watch();
  }

  /** @param {any} body */
  async function takesDrop({ confirmed }) {
    const isTaken = await upload.takesDrop();
    asked.requireSame(confirmed);
    return isTaken;
  }

  /** @param {any} body */
  async function startScroll({ ref, selector, ...order }) {
    const isNamed = ref !== undefined || selector !== undefined;
    const element = isNamed ? target.find({ ref, selector }) : null;
    const start = element ?? dom.documentElement();
    if (start) settle.arm(start);
    return scroll.run(element, order);
  }

  /** For the page around the frame of an action. */
  function watchChanges() {
    const start = dom.documentElement();
    changeNotes.expect();
    if (start) settle.arm(start);
  }

  /** @param {any} body `isOver`: nobody will ask what has changed */
  function unwatch({ isOver }) {
    settle.disarm();
    if (isOver) changeNotes.take();
  }

  async function rest() {
    const { opens, outside, arrived } = evidence;
    const rest = await settle.rest();
    const scheme = outside();
    // The browser asks the person, or another program opens it; the page stays.
    const stays = scheme && { outside: scheme, navigating: false, downloading: false };
    return { ...rest, opening: opens(), arrived: arrived(), ...stays };
  }

  /** @param {any} how */
  function written(how) {
    try {
      return changeLines.write(how);
    } catch {
      // The action is done, whatever the page has made of itself.
      return { lines: "", whole: false };
    }
  }

  /**
   * Says at once what the worker would ask next, unless something else is to come.
   * @param {any} body `changes`: how to write them; `isFilled`: whether to say what a field holds
   */
  async function settled({ range, changes, isFilled }) {
    refs.adopt(range);
    if (isNotDone) return { value: null, next: refs.range()?.next };
    const seen = await rest();
    const isOver = !seen.navigating && !seen.downloading && !seen.opening;
    const value = {
      ...seen,
      ...(isOver && changes && { changes: written(changes) }),
      ...(isOver && isFilled && { held: fill.holds() }),
    };
    return { value, next: refs.range()?.next };
  }

  /** @type {[string, (body: any) => unknown][]} */
  const table = [
    ["read", (body) => minting(body, () => read(body))],
    ["find", (body) => minting(body, () => find.find(body))],
    ["seek", (body) => minting(body, () => wordTargets.seek(body))],
    ["query", (body) => minting(body, () => elements.query(body))],
    [
      "styles",
      (body) => minting(body, () => elements.styles(target.find(body.how), body.properties)),
    ],
    ["asked", (body) => minting(body, () => asked.describe(askedElement(body)))],
    ["requireSame", ({ confirmed }) => asked.requireSame(confirmed)],
    ["outline", (body) => asked.outline(body)],
    ["unline", () => asked.end()],
    ["describe", (body) => minting(body, () => durable.describe(target.find(body.how)))],
    ["locate", (body) => minting(body, () => durable.locate(body.known, body.by, body.maxMs))],
    ["text", (body) => minting(body, () => text(body))],
    ["html", (body) => minting(body, () => piece(body, markup, dom.documentElement))],
    ["expectListeners", ({ word }) => listening.expect(word)],
    ["countElements", () => listening.count()],
    ["learnListeners", (body) => listening.learn(body)],
    ["wait", wait],
    ["look", (body) => minting(body, () => waiting.look(body))],
    ["stopWaiting", ({ id }) => waiting.stop(id)],
    ["announce", (body) => minting(body, () => childFrames.announce())],
    ["contentType", () => dom.contentType()],
    ["viewport", () => ({ width: window.innerWidth, height: window.innerHeight })],
    ["activation", () => navigator.userActivation.hasBeenActive],
    ["idle", () => true],
    ["index", () => childFrames.ownIndex()],
    ["allowsTools", (body) => childFrames.allowsTools(body)],
    ["toolPolicy", () => childFrames.toolPolicy()],
    ["listen", () => childFrames.listen()],
    ["heard", () => childFrames.nonce()],
    ["outward", (body) => childFrames.outward(body)],
    ["through", (body) => childFrames.through(body)],
    ["has", ({ selector }) => target.has(selector)],
    ["box", (body) => target.box(target.find(body))],
    ["aim", aim],
    ["pointOf", (body) => points.inViewport(body)],
    ["frameAt", (body) => minting(body, () => points.frameAt(body))],
    ["aimAtPoint", aimAtPoint],
    ["hovered", () => evidence.hovered()],
    ["dragging", () => evidence.dragging()],
    ["fill", (body) => put(body, () => startFill(body))],
    ["select", (body) => put(body, () => select(body))],
    ["filled", (body) => minting(body, () => fill.filled(body.held))],
    ["focused", () => focus.isHere()],
    ["focus", takeFocus],
    ["typing", startTyping],
    ["expectKeys", () => guard.expectKeys()],
    ["refuseKeys", () => guard.refuseKeys()],
    ["keys", () => ({ keys: guard.keys(), isHere: focus.isHere() })],
    ["where", (body) => minting(body, () => focus.where(body))],
    ["regain", () => focus.regain()],
    ["regainField", () => focus.regain({ field: true })],
    ["hasField", () => focus.hasField()],
    ["wasSecret", () => focus.wasSecret()],
    ["expectDrop", ({ number }) => guard.expectDrop(number)],
    ["pressed", (body) => minting(body, () => focus.after({ held: body.held, isKey: true }))],
    ["typed", (body) => minting(body, () => focus.after(body))],
    ["field", (body) => minting(body, () => field.look(target.find(body)))],
    ["focusedFrame", (body) => minting(body, () => focus.frame())],
    ["syntheticClick", ({ point, press }) => mouse.click(point, press)],
    ["syntheticHover", ({ point }) => mouse.hover(point)],
    ["syntheticWheel", ({ point, by }) => mouse.wheel(point, by)],
    ["insert", ({ text }) => writing.write(text)],
    ["fillIn", (body) => put(body, () => fillIn(body))],
    ["syntheticKeys", ({ events }) => keyboard.play(events)],
    ["scroll", startScroll],
    ["noteScroll", (body) => scroll.note(points.at(body))],
    ["wheeled", () => scroll.rested()],
    ["expectChanges", () => changeNotes.expect()],
    ["watchChanges", watchChanges],
    ["changes", (body) => minting(body, () => changeLines.write(body))],
    ["seen", () => firstContent.look()],
    ["awaitContent", (body) => firstContent.wait(body)],
    ["settle", settled],
    ["unwatch", unwatch],
    ["storage", (body) => storage.read(body)],
    ["planUpload", ({ how, files }) => upload.plan(how, files)],
    ["addPart", ({ index, data }) => upload.add(index, data)],
    ["watchUpload", watchUpload],
    ["putFiles", ({ files }) => upload.put(files)],
    ["takesDrop", takesDrop],
    ["uploaded", () => upload.result()],
    ["show", ({ word, how }) => upload.show(word, how && target.find(how))],
    ["expectShown", ({ word }) => upload.expect(word)],
    ["hasShown", () => upload.hasShown()],
    ["mayPublish", (body) => pageAccess.set(body)],
    ["pageTool", (body) => toolList.call(body)],
    ["stopPageTool", (body) => toolList.stop(body)],
    ["used", () => toolList.used()],
    ["plugins", (body) => plugins.listen(body)],
    ["runPlugin", (body) => plugins.run(body)],
    ["request", (body) => pageRequests.send(body)],
    ["readResponse", (body) => pageRequests.read(body)],
    ["closeRequest", (body) => pageRequests.close(body)],
    ["match", ({ id, maxMs, ...wanted }) => waiting.match(id, wanted, maxMs)],
    ["useStorage", (body) => storage.use(body)],
    ["rest", ({ ms }) => void (restUntil = performance.now() + ms)],
    ["introduce", () => framedSource.introduce()],
    ["toChild", (body) => windowMessages.forward(body)],
    ["forgetChild", (body) => windowMessages.forget(body)],
    ["fromParent", ({ payload }) => framedSource.receive(payload)],
  ];
  const answers = new Map(table);

  /** @param {{reason?: TabhubReason, message: string, data?: object}} error */
  function failure({ reason = "internal", message, data }) {
    return { reason, message, data };
  }

  /** @param {any} message what comes in one is done in one task: the page cannot draw in between */
  function received(message) {
    isNotDone = false;
    for (const one of [message].flat()) void answer(one);
  }

  /** @param {any} message */
  async function answer({ id, type, body, until }) {
    const asked = port;
    if (Date.now() > until && !NEVER_LATE.has(type)) return;
    try {
      const value = await answers.get(type)?.(body);
      if (!post(asked, { id, value })) tabhub.fail("too_large", "The page's answer is too large.");
    } catch (error) {
      post(asked, { id, error: failure(/** @type {any} */ (error)) });
    }
  }

  /**
   * @param {chrome.runtime.Port | null} to
   * @param {object} message
   * @returns {boolean} false when it is too large, or the port has closed
   */
  function post(to, message) {
    try {
      to?.postMessage(message);
      return true;
    } catch {
      return false;
    }
  }

  function connect() {
    if (port) return;
    try {
      port = chrome.runtime.connect({ name: "frame" });
    } catch {
      // The extension is gone; nothing of this may appear in the page.
      return;
    }
    connectedAt = performance.now();
    port.onMessage.addListener(received);
    port.onDisconnect.addListener(disconnected);
    post(port, { type: "hello", range: refs.range() });
    windowMessages.connected((message) => post(port, message));
    framedSource.connected((message) => post(port, message));
    toolList.connected((message) => post(port, message));
    plugins.connected((message) => post(port, message));
    if (windowEvents.isLate()) post(port, { type: "late" });
  }

  function disconnected() {
    // Reading the error keeps it out of the page's console.
    void chrome.runtime?.lastError;
    port = null;
    guard.expectNothing();
    asked.end();
    if (!chrome.runtime?.id) return;
    const now = performance.now();
    briefLives = now - connectedAt < CALM_MS ? briefLives + 1 : 0;
    // A worker that keeps dying is not to be woken in a tight loop.
    const wait = Math.max(restUntil - now, briefLives > 1 ? CALM_MS : 0);
    if (wait > 0) setTimeout(connect, wait);
    else connect();
  }

  /** @param {Event} event only the browser may say that a page comes back */
  function reconnect({ isTrusted }) {
    if (!isTrusted) return;
    port?.disconnect();
    port = null;
    connect();
  }

  evidence.onArrival(() => post(port, { type: "news" }));
  guard.onRefusal((by, isChanged) => post(port, { type: "refused", by, isChanged }));
  windowEvents.onLate(() => post(port, { type: "late" }));
  window.addEventListener("pageshow", (event) => event.persisted && reconnect(event));
  EventTarget.prototype.addEventListener.call(document, "prerenderingchange", reconnect);
  connect();
  return {};
});
