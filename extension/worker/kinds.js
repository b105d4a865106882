/** What a tab shows that is no HTML: little of it can be read, and that has to be said. */

const PAGES = new Set(["text/html", "application/xhtml+xml"]);

/**
 * @param {import("./frame.js").Frame} main
 * @returns {Promise<{contentType?: string}>} nothing for a page
 */
export async function kindOf(main) {
  const contentType = String(await main.ask("contentType", {}));
  return PAGES.has(contentType) ? {} : { contentType };
}
