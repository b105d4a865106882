/** The script that the library was loaded from; the worker runs the same file. */

/** @type {{url?: string, type: "module" | "classic"}} */
export const script = { type: "module" };
