/**
 * The one global that the content scripts share, in the extension's isolated world. Pages cannot
 * see it, but an element with the id "tabhub" would be found under the same name, so only an own
 * property counts.
 */
if (!Object.hasOwn(globalThis, "tabhub")) {
  Object.defineProperty(globalThis, "tabhub", {
    value: {
      /** A second injection finds the parts defined, and changes nothing. */
      define(/** @type {string} */ name, /** @type {() => unknown} */ make) {
        if (!Object.hasOwn(this, name)) Object.defineProperty(this, name, { value: make() });
      },
      fail(
        /** @type {TabhubReason} */ reason,
        /** @type {string} */ message,
        /** @type {object} */ data = {},
      ) {
        throw Object.assign(new Error(message), { reason, data });
      },
      /** The page's words within a message, as `quoted` in the worker's command-errors.js. */
      quoted(/** @type {string} */ words) {
        return `\u0002${words.replace(/[\u0002\u0003]/g, "")}\u0003`;
      },
    },
  });
}
