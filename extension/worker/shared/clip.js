/** Length limits for texts that pages control. */

export const URL_LENGTH = 2000;
export const TITLE_LENGTH = 500;
export const MESSAGE_LENGTH = 2000;
export const LONG_LENGTH = 20_000;

/**
 * @param {string} text
 * @param {number} length
 */
export function clip(text, length) {
  return text.length > length ? `${text.slice(0, wholeLength(text, length - 1))}…` : text;
}

/**
 * The longest prefix that does not split a surrogate pair.
 * @param {string} text
 * @param {number} length
 */
export function wholeLength(text, length) {
  const last = text.charCodeAt(length - 1);
  const isFirstHalf = last >= 0xd800 && last <= 0xdbff;
  return isFirstHalf ? length - 1 : length;
}
