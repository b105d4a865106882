/** Where the library itself was loaded from: the worker is the same file. */

/** @type {{url?: string, type: "module" | "classic"}} */
export const home = { type: "module" };
