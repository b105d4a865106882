/**
 * What a plugin's script finds in the page's own world, as `__tabhub`. Each function is sent to the
 * page as text, so it uses nothing outside itself; the page can change everything that it uses.
 */

/**
 * @typedef {object} Offer
 * @property {string} mark tells our answers from other values
 * @property {unknown[]} args
 * @property {number} maxText
 */

/** @typedef {{state: "done" | "failed" | "unwritable" | "oversized", text?: string, message?: string}} Ending */

/**
 * The script reads `__tabhub.args`, or calls `__tabhub.run` with a function that gets them.
 * @param {Offer} offer
 */
export function offer({ mark, args, maxText }) {
  const LONGEST = 2000;
  const page = /** @type {any} */ (globalThis);
  let take = () => {};
  /** @type {Promise<string>} settles when the part of the script that does not wait has ended */
  const begun = new Promise((resolve) => {
    take = () => queueMicrotask(() => resolve(offered.fault));
  });

  /** @param {any} error */
  function messageOf(error) {
    try {
      return String(error?.message || error).slice(0, LONGEST);
    } catch {
      return "no message";
    }
  }

  /** @param {unknown} value */
  function written(value) {
    try {
      const text = JSON.stringify(value) ?? "null";
      return text.length > maxText ? { state: "oversized" } : { state: "done", text };
    } catch (error) {
      return { state: "unwritable", message: messageOf(error) };
    }
  }

  /** @param {(...args: unknown[]) => unknown} work */
  async function run(work) {
    take();
    try {
      return { [mark]: written(await work(...args)) };
    } catch (error) {
      return { [mark]: { state: "failed", message: messageOf(error) } };
    }
  }

  const offered = {
    run,
    begun,
    fault: "",
    get args() {
      take();
      return args;
    },
  };
  Object.defineProperty(page, "__tabhub", { value: offered, configurable: true });
  const note = (/** @type {ErrorEvent} */ { message }) => void (offered.fault = messageOf(message));
  addEventListener("error", note, { once: true });
  void begun.then(() => removeEventListener("error", note));
}

/**
 * Settles when the script has taken what was offered: the next one may be offered then.
 * @returns {Promise<string>} what it has thrown; empty if nothing
 */
export async function begun() {
  return String(await /** @type {any} */ (globalThis).__tabhub.begun);
}

/** @returns {string} the same of a script that has ended */
export function faultOf() {
  return String(/** @type {any} */ (globalThis).__tabhub?.fault ?? "");
}
