/** Where the library itself was loaded from: the worker is the same file. */

/** @type {{url: string | undefined, type: "module" | "classic"}} */
export const home = { url: undefined, type: "module" };

/**
 * @param {string | undefined} url
 * @param {"module" | "classic"} type
 */
export function setHome(url, type) {
  home.url = url;
  home.type = type;
}
