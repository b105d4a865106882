/** Tools of the page that the browser itself knows (WebMCP), from scripts and forms. */
tabhub.define("nativeTools", () => {
  const FORM = "tabhub/waitsForPerson";
  const HAND_SUBMITTED = "form[toolname]:not([toolautosubmit])";

  function find() {
    // An element named "modelContext" would be found on the document first.
    const getter = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext")?.get;
    try {
      return getter?.call(document) ?? null;
    } catch {
      return null;
    }
  }

  /** @type {any} */
  const context = find();
  /**
   * Older browsers take the input as JSON. Determined before the call, because trying would call
   * twice.
   */
  const takesText = context?.executeTool?.length > 1;
  /** @type {Map<string, any> | null} */
  let known = null;
  let changed = () => {};

  async function look() {
    /** @type {any[]} */
    const tools = await context.getTools();
    // Frames of the same origin are listed too; they have content scripts of their own.
    return new Map(tools.filter((tool) => tool.window === window).map((tool) => [tool.name, tool]));
  }

  async function tools() {
    known ??= await look().catch(() => new Map());
    return known;
  }

  /** Forms that a person has to submit. */
  function handSubmitted() {
    const forms = Document.prototype.querySelectorAll.call(document, HAND_SUBMITTED);
    return new Set(Array.from(forms, (form) => tabhub.dom.attr(form, "toolname")));
  }

  async function list() {
    const found = [...(await tools()).values()];
    const waiting = handSubmitted();
    return found.map(({ name, title, description, inputSchema, annotations }) => {
      const _meta = waiting.has(name) ? { [FORM]: true } : undefined;
      return { name, title, description, inputSchema, annotations, _meta };
    });
  }

  /** @type {TabhubToolSource["call"]} */
  async function call(name, args, { signal }) {
    const tool = (await tools()).get(name);
    if (!tool) return tabhub.fail("no_tab_for_tool", "The page has no such tool any more.");
    const input = takesText ? JSON.stringify(args) : args;
    return tabhub.toolLimits.fromText(await context.executeTool(tool, input, { signal }));
  }

  context?.addEventListener("toolchange", (/** @type {Event} */ event) => {
    if (!event.isTrusted) return;
    known = null;
    changed();
  });
  return {
    kind: "native",
    isThere: () => context !== null,
    polls: () => false,
    capabilities: () => ({}),
    extensions: () => undefined,
    onChange: (listener) => (changed = listener),
    list,
    call,
  };
});
