/** The style rules of a sheet, by their places in its text. Rules nested in rules count as one. */

/** @typedef {{start: number, end: number, selector: string}} StyleRule */

/** What a text is made of where braces and semicolons do not count as such. */
const OPAQUE = /\/\*[\s\S]*?(?:\*\/|$)|"(?:\\[\s\S]|[^"\\])*(?:"|$)|'(?:\\[\s\S]|[^'\\])*(?:'|$)/y;
const URL_TOKEN = /url\(\s*[^"'\s)][^)]*\)/iy;
/** At-rules that hold style rules. */
const GROUPS = /^@(?:media|supports|layer|container|scope|starting-style|document)\b/i;

/**
 * @param {string} text
 * @returns {StyleRule[]}
 */
export function styleRules(text) {
  /** @type {StyleRule[]} */
  const rules = [];
  let at = 0;
  while (at < text.length) {
    const start = skipBlank(text, at);
    const end = endOfPrelude(text, start);
    const prelude = text.slice(start, end);
    if (text[end] !== "{" || GROUPS.test(prelude)) {
      at = end + 1;
      continue;
    }
    at = endOfBlock(text, end + 1);
    if (!prelude.startsWith("@")) rules.push({ start, end: at, selector: plain(prelude) });
  }
  return rules;
}

/** @param {string} prelude */
function plain(prelude) {
  return prelude
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * @param {string} text
 * @param {number} at
 */
function skipBlank(text, at) {
  const blank = /(?:\s|\/\*[\s\S]*?(?:\*\/|$)|<!--|-->)*/y;
  blank.lastIndex = at;
  blank.test(text);
  return blank.lastIndex;
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {number} where a block begins, or a statement or the block around it ends
 */
function endOfPrelude(text, at) {
  while (at < text.length && !"{};".includes(/** @type {string} */ (text[at]))) at = next(text, at);
  return at;
}

/**
 * @param {string} text
 * @param {number} at behind the brace that opens it
 * @returns {number} behind the one that closes it
 */
function endOfBlock(text, at) {
  for (let depth = 1; at < text.length && depth;) {
    if (text[at] === "{") depth++;
    if (text[at] === "}") depth--;
    at = next(text, at);
  }
  return at;
}

/**
 * @param {string} text
 * @param {number} at
 */
function next(text, at) {
  if (text[at] === "\\") return at + 2;
  for (const token of [OPAQUE, URL_TOKEN]) {
    token.lastIndex = at;
    if (token.test(text)) return token.lastIndex;
  }
  return at + 1;
}
