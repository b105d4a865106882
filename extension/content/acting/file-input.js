/** Which files a file input accepts. */
tabhub.define("accept", () => {
  /**
   * @param {string} kind an ending, a type, or a family of types
   * @param {TabhubFileName} file
   */
  function fits(kind, { name, mimeType }) {
    if (kind.startsWith(".")) return name.toLowerCase().endsWith(kind);
    if (kind.endsWith("/*")) return mimeType.startsWith(kind.slice(0, -1));
    return mimeType === kind;
  }

  return {
    misfits(accept, files) {
      const kinds = accept
        .toLowerCase()
        .split(",")
        .map((kind) => kind.trim());
      const limits = kinds.filter((kind) => kind && kind !== "*/*");
      if (limits.length < kinds.length || !limits.length) return [];
      return files.filter((file) => !limits.some((kind) => fits(kind, file)));
    },
  };
});

/** Files for a page: given to a file input, or dropped on an element. */
tabhub.define("upload", () => {
  const { attr, closest, documentElement, matches, rect, tag } = tabhub.dom;
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  const DROP = ["dragenter", "dragover", "drop"];
  const OVER_MS = 1000;
  const SHOWN = "The file chooser is not open any more.";
  /** @type {Element | null} where the files go */
  let place = null;
  /** @type {Element | null} the element that the debugger has passed to us */
  let shown = null;
  /** @type {Uint8Array<ArrayBuffer>[][]} the parts of each file that have arrived */
  let parts = [];
  /** @type {TabhubFile[] | null} the files as the page has seen them */
  let seen = null;
  /** @type {DragEvent | null} */
  let over = null;
  /** @type {(() => void) | undefined} */
  let stopWatching;

  /**
   * @param {Element} element
   * @returns {HTMLInputElement | null}
   */
  function inputOf(element) {
    const label = closest(element, "label");
    const control = label instanceof HTMLLabelElement ? label.control : element;
    const input = element instanceof HTMLInputElement ? element : control;
    return input instanceof HTMLInputElement && input.type === "file" ? input : null;
  }

  /** @param {TabhubUploadTarget} how */
  function find({ point, isShown, ...how }) {
    if (isShown) return shown ?? tabhub.fail("no_dialog", SHOWN);
    return point ? tabhub.points.at(point) : tabhub.target.find(how);
  }

  /**
   * @param {HTMLInputElement} input
   * @param {TabhubFileName[]} files
   */
  function refuseUnfit(input, files) {
    tabhub.target.refuseDisabled(input);
    if (matches(input, "[webkitdirectory]")) {
      tabhub.fail("invalid_arguments", "This input takes whole folders, and no single files.");
    }
    if (files.length > 1 && !matches(input, "[multiple]")) {
      tabhub.fail("invalid_arguments", "This input takes one file: it has no multiple attribute.");
    }
  }

  /** @type {TabhubUpload["plan"]} */
  function plan(how, files) {
    const element = find(how);
    const input = inputOf(element);
    if (input) refuseUnfit(input, files);
    place = input ?? element;
    parts = files.map(() => []);
    const misfits = input ? tabhub.accept.misfits(attr(input, "accept") ?? "", files) : [];
    const kind = input ? "input" : "drop";
    return { kind, tag: tag(place), misfits: misfits.map(({ name }) => name) };
  }

  /** @param {FileList | null | undefined} list */
  function listed(list) {
    return [...(list ?? [])].map(({ name, size }) => ({ name, size }));
  }

  function noteChange() {
    if (place instanceof HTMLInputElement) seen = listed(place.files);
  }

  /** @param {DragEvent} event */
  function noteOver(event) {
    over = event;
  }

  /** @param {DragEvent} event */
  function noteDrop(event) {
    seen = listed(event.dataTransfer?.files);
  }

  /**
   * If a page handles a drop but does not prevent the default, the browser would navigate to the
   * file.
   * @param {DragEvent} event
   */
  function stay(event) {
    event.preventDefault();
  }

  /** @type {TabhubUpload["watch"]} */
  function watch() {
    stopWatching?.();
    seen = over = null;
    const element = place ?? documentElement();
    if (!element) return;
    tabhub.settle.arm(element);
    const ended = new AbortController();
    const { signal } = ended;
    const within = (
      /** @type {EventTarget} */ where,
      /** @type {string} */ name,
      /** @type {any} */ note,
      capture = true,
    ) => addEventListener.call(where, name, note, { capture, signal });
    within(element, "change", noteChange);
    within(window, "dragover", noteOver);
    within(window, "drop", noteDrop);
    within(window, "drop", stay, false);
    stopWatching = () => ended.abort();
  }

  /** @param {number} end */
  async function untilOver(end) {
    while (!over && performance.now() < end) await new Promise((done) => setTimeout(done, 5));
  }

  /** @param {{name: string, mimeType: string}[]} names */
  function transfer(names) {
    const data = new DataTransfer();
    names.forEach(({ name, mimeType }, index) => {
      data.items.add(new File(parts[index] ?? [], name, { type: mimeType }));
    });
    parts = [];
    return data;
  }

  /**
   * @param {HTMLInputElement} input
   * @param {DataTransfer} data
   */
  function choose(input, data) {
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "files") ?? {};
    set?.call(input, data.files);
    dispatchEvent.call(input, new Event("input", { bubbles: true, composed: true }));
    dispatchEvent.call(input, new Event("change", { bubbles: true }));
  }

  /**
   * @param {Element} element
   * @param {DataTransfer} dataTransfer
   */
  function drop(element, dataTransfer) {
    tabhub.target.showPart(element);
    const { x, y, width, height } = rect(element);
    const at = { clientX: x + width / 2, clientY: y + height / 2 };
    const common = { ...at, dataTransfer, bubbles: true, cancelable: true, composed: true };
    for (const name of DROP) {
      const isTaken = !dispatchEvent.call(element, new DragEvent(name, common));
      if (name === "dragover" && !isTaken) return false;
    }
    return true;
  }

  return {
    plan,
    add(index, data) {
      parts[index]?.push(Uint8Array.from(atob(data), (character) => character.charCodeAt(0)));
    },
    watch,
    put(files) {
      const data = transfer(files);
      if (!(place instanceof HTMLInputElement && inputOf(place))) {
        return place !== null && drop(place, data);
      }
      choose(place, data);
      return true;
    },
    async takesDrop() {
      await untilOver(performance.now() + OVER_MS);
      return over !== null && over.defaultPrevented;
    },
    result() {
      stopWatching?.();
      const input = place && inputOf(place);
      const files = seen ?? (input ? listed(input.files) : null);
      place = shown = null;
      return files;
    },
    show(word, element) {
      const submitter = element ?? place;
      if (!(submitter instanceof HTMLElement)) return;
      dispatchEvent.call(document, new SubmitEvent(word, { submitter }));
    },
    expect(word) {
      shown = null;
      const take = (/** @type {Event} */ event) => {
        shown = /** @type {SubmitEvent} */ (event).submitter;
      };
      addEventListener.call(document, word, take, { once: true });
    },
    hasShown: () => shown !== null,
    shown: () => find({ isShown: true }),
  };
});
