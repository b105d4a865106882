/** What a tab shows that is no HTML: little of it can be read, and that has to be said. */

const PAGES = new Set(["text/html", "application/xhtml+xml"]);

/**
 * To be asked before much is read: a page answers in turn.
 * @param {import("./frame.js").Frame} main
 * @returns {Promise<{contentType?: string}>} nothing for a page, or where it does not say
 */
export async function kindOf(main) {
  const contentType = String(await main.ask("contentType", {}).catch(() => "text/html"));
  return PAGES.has(contentType) ? {} : { contentType };
}
