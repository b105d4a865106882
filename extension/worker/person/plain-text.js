/** Untrusted text made safe to show: nothing in it is invisible or looks like something else. */

/**
 * Characters that show nothing or change how others are shown; of the spaces, all but the plain
 * one.
 */
const UNSEEN = /([\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs})/u;
const LAYOUT_MARKS = new Map([
  ["\n", "↵"],
  ["\t", "⇥"],
]);

/** @typedef {{text: string, isMark: boolean}} Piece a mark stands for an invisible character */

/**
 * Line ends and tabs keep their effect beside their mark, where white space counts.
 * @param {string} text
 * @returns {Piece[]}
 */
export function pieces(text) {
  // Splitting by a group puts each match at an odd index.
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
 * For places that accept only text.
 * @param {string} text
 */
export function plain(text) {
  return pieces(text.replace(/\s+/g, " "))
    .map(({ text: part, isMark }) => (isMark ? `[${part}]` : part))
    .join("");
}

/**
 * What a person calls a site: a page's URL without the parts that change from page to page.
 * @param {string | null} origin
 */
export function siteOf(origin) {
  return origin && URL.canParse(origin) ? new URL(origin).host || origin : (origin ?? "");
}
