/**
 * Tools of a polyfill, an object of the page that cannot be seen from here: a small script in the
 * page's own world (worker/page_tools/polyfill-bridge.js) speaks for it. Between the two are events of a random name.
 */
tabhub.define("bridgedtools", () => {
  const { mcpclient, toolbounds } = tabhub;
  const name = `tabhub-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
  const { dispatchEvent } = EventTarget.prototype;

  /** @param {unknown} message */
  function post(message) {
    const detail = JSON.stringify(message);
    dispatchEvent.call(document, new CustomEvent(`${name}-in`, { detail }));
  }

  const client = mcpclient.make("polyfill", post);

  /** @param {Event} event */
  function hear(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (typeof detail !== "string" || detail.length > toolbounds.MAX_TEXT + 10_000) return;
    try {
      client.receive(JSON.parse(detail));
    } catch {
      // The page has spoken on our channel; it may.
    }
  }

  /** @type {TabhubToolSource["call"]} */
  async function call(toolName, args, how) {
    const { size, text } = await client.call(toolName, args, how);
    const message = `The page's result has ${size} characters.`;
    return size === undefined ? toolbounds.fromText(text) : tabhub.fail("too_large", message);
  }

  EventTarget.prototype.addEventListener.call(document, `${name}-out`, hear, true);
  return { ...client, name, call };
});
