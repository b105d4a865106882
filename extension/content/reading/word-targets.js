/** Elements that words may mean as the target of an action, the best first. */
tabhub.define("wordTargets", () => {
  const { holds, matches: fitsSelector } = tabhub.dom;
  const { clip } = tabhub.names;
  const NAME_LENGTH = 100;
  const ROW_LENGTH = 60;
  const MOST = 8;
  const STEPS = 32;
  /** What an action can be done to, where only some elements take it. */
  const KINDS = new Map([
    ["text", "input, textarea, select, [contenteditable], [role=textbox], [role=combobox]"],
    ["select", "select"],
  ]);

  /** @typedef {{item: TabhubItem, score: number, missing: number}} Candidate */

  /**
   * @param {TabhubItem[]} items
   * @param {string} words
   * @param {number} endAt
   */
  function candidatesAmong(items, words, endAt) {
    const query = tabhub.matching.query(words);
    const rows = tabhub.find.rows();
    /** @type {Candidate[]} */
    const found = [];
    for (let i = 0; i < items.length; i++) {
      if (i % STEPS === 0 && performance.now() > endAt) return { found, whole: false };
      const { element } = items[i];
      const match = query.match(items[i], () => rows.around(element)?.text ?? "");
      if (!match || match.isNear) continue;
      found.push({ item: items[i], score: match.score, missing: match.missing });
    }
    return { found, whole: true };
  }

  /**
   * What can be acted on before plain text, and what takes this kind of action before the rest.
   * @param {Candidate[]} found
   * @param {string} kind
   */
  function fitting(found, kind) {
    const selector = KINDS.get(kind);
    const active = found.filter(({ item }) => item.hasRef);
    const takers = selector
      ? found.filter(({ item }) => fitsSelector(item.element, selector))
      : active;
    return takers.length ? takers : active.length ? active : found;
  }

  /**
   * Of an element and its own wrapper, only the inner one.
   * @param {Candidate[]} found best first
   */
  function withoutWrappers(found) {
    return found.filter(
      ({ item, score }) =>
        !found.some(
          (other) =>
            other.item.element !== item.element &&
            other.score >= score &&
            holds(item.element, other.item.element),
        ),
    );
  }

  /** @param {Candidate} candidate */
  function describe({ item: { element, role, name }, score, missing }) {
    const ref = tabhub.refs.mint(element);
    const around = tabhub.find.rows().around(element)?.text ?? "";
    const row = around === name ? "" : clip(around, ROW_LENGTH);
    return { ref, role, name: clip(name, NAME_LENGTH), row, score, missing };
  }

  return {
    seek({ words, kind, maxMs }) {
      const began = performance.now();
      const endAt = tabhub.dom.deadline(maxMs);
      const { items, isRead } = tabhub.find.items(maxMs / 2);
      const { found, whole } = candidatesAmong(items, words, endAt);
      const best = fitting(found, kind).sort((one, other) => other.score - one.score);
      const shown = withoutWrappers(best.slice(0, MOST * 4)).slice(0, MOST);
      const candidates = shown.map(describe);
      const tookMs = performance.now() - began;
      return { candidates, whole: isRead && whole, size: items.length, tookMs };
    },
  };
});
