/** Which element of a page holds what the page is about. */
tabhub.define("maincontent", () => {
  const { isVisible, queryAll, rawText } = tabhub.dom;
  const MOST_CHARS = 20_000;
  /** An only article counts from this part of the text around it on: it may be a mere card. */
  const PART_OF_MAIN = 1 / 2;
  const PART_OF_BODY = 1 / 5;

  /** @param {Element | null} element */
  function size(element) {
    return element ? tabhub.names.clean(rawText(element, MOST_CHARS)).length : 0;
  }

  /** @param {string} selector */
  function shown(selector) {
    return queryAll(document, selector).filter((element) => isVisible(element) && size(element));
  }

  return {
    find() {
      const body = tabhub.dom.body() ?? tabhub.dom.documentElement();
      const main = shown("main, [role=main]")[0] ?? null;
      const articles = shown("article, [role=article]");
      const article = articles.length === 1 ? articles[0] : null;
      const least = main ? size(main) * PART_OF_MAIN : size(body) * PART_OF_BODY;
      return article && size(article) >= least ? article : (main ?? body);
    },
  };
});
