/** Texts of strangers, so that nothing in them is unseen or passes for something else. */

/** What shows nothing, or changes how the rest is shown; of the spaces, all but the plain one. */
const UNSEEN = /([\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs})/u;
const LAYOUT_MARKS = new Map([
  ["\n", "↵"],
  ["\t", "⇥"],
]);

/** @typedef {{text: string, isMark: boolean}} Piece a mark tells of a character that is not seen */

/**
 * Line ends and tabs have their effect beside their mark, where white space counts.
 * @param {string} text
 * @returns {Piece[]}
 */
export function pieces(text) {
  // Splitting by a group puts what it matched at every odd place.
  return text.split(UNSEEN).flatMap((part, index) => {
    if (index % 2 === 0) return part ? [{ text: part, isMark: false }] : [];
    const mark = LAYOUT_MARKS.get(part);
    if (!mark) return [{ text: numberOf(part), isMark: true }];
    return [
      { text: mark, isMark: true },
      { text: part, isMark: false },
    ];
  });
}

/** @param {string} character */
function numberOf(character) {
  const number = /** @type {number} */ (character.codePointAt(0));
  return `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * For places that take nothing but text.
 * @param {string} text
 */
export function plain(text) {
  return pieces(text.replace(/\s+/g, " "))
    .map(({ text: part, isMark }) => (isMark ? `[${part}]` : part))
    .join("");
}

/**
 * What a person calls a site: the address of a page without what changes from page to page.
 * @param {string | null} origin
 */
export function siteOf(origin) {
  return origin && URL.canParse(origin) ? new URL(origin).host || origin : (origin ?? "");
}
