/** A row of a table as one line: what its cells say, separated by bars. */
tabhub.define("tableRows", () => {
  const { TEXT, quote } = tabhub.lines;
  const words = (/** @type {string} */ list) => new Set(list.split(" "));
  const CELLS = words("cell gridcell columnheader rowheader");
  /** What a line cannot hold. */
  const BLOCKS = words(
    "alertdialog article blockquote canvas dialog feed figure form grid iframe list listbox log " +
      "main menu menubar navigation region row search table tablist tabpanel toolbar tree treegrid",
  );
  const MOST_LEVELS = 4;
  /** A text with these in it could be taken for something else. */
  const SPECIAL = /["\\|]|\[ref_|^row\b/;

  /**
   * @typedef {object} Cell
   * @property {TabhubLine[]} lines
   * @property {number[]} options how many each line has, which are not listed
   */

  /**
   * @param {number} depth of the row
   * @param {TabhubLine[]} lines
   * @param {number} from
   * @returns {Cell[]} without those at the end that are empty
   */
  function split(depth, lines, from) {
    /** @type {Cell[]} */
    const cells = [];
    for (let i = from; i < lines.length; i++) {
      const { item, depth: at } = lines[i];
      if (at === depth + 1 || i === from) cells.push({ lines: [], options: [] });
      const cell = cells[cells.length - 1];
      const isEmpty = CELLS.has(item.role) && !item.name && !item.hasRef && !item.rest;
      const isOption = item.role === "option" && !item.hasRef && cell.lines.length > 0;
      if (isOption) cell.options[cell.lines.length - 1]++;
      else if (!isEmpty) cell.options[cell.lines.push(lines[i]) - 1] = 0;
    }
    while (cells.length && !cells[cells.length - 1].lines.length) cells.pop();
    return cells;
  }

  /** @param {TabhubItem} item whether it is no more than a text */
  const isText = ({ role, hasRef, rest }) => role === TEXT || (CELLS.has(role) && !hasRef && !rest);

  /** @param {TabhubItem} item */
  const isLink = ({ role, hasRef, name }) => role === "link" && hasRef && name !== "";

  /** @param {TabhubItem} item */
  const mark = ({ element, hasRef }) => (hasRef ? ` [ref_${tabhub.refs.mint(element)}]` : "");

  /** @param {TabhubLine} line */
  function part({ item, text }) {
    if (isText(item)) return quote(item.name);
    return isLink(item) ? `link ${quote(item.name)}${mark(item)}` : text;
  }

  /**
   * A text or a link that is alone in its cell needs no role and no quotation marks: with a ref it
   * is a link. Others would run into each other.
   * @param {Cell} cell
   * @param {boolean} isOnly whether nothing shows that it is a cell
   */
  function written({ lines, options }, isOnly) {
    const item = lines.length === 1 && !isOnly ? lines[0].item : null;
    if (item && (isText(item) || isLink(item)) && !SPECIAL.test(item.name)) {
      return item.name + mark(item);
    }
    const counted = (/** @type {number} */ count) => (count ? ` (${count} options)` : "");
    return lines.map((line, i) => part(line) + counted(options[i])).join(" ");
  }

  /** @type {TabhubTableRows["line"]} */
  function line(row, lines, from) {
    const { depth, item } = row;
    let hasCell = false;
    for (let i = from; i < lines.length; i++) {
      const { role } = lines[i].item;
      if (lines[i].depth - depth > MOST_LEVELS || BLOCKS.has(role)) return null;
      hasCell ||= CELLS.has(role);
    }
    if (!hasCell) return null;
    const cells = split(depth, lines, from);
    const text = cells.map((cell) => written(cell, cells.length === 1)).join(" | ");
    return item.name || item.hasRef || item.rest ? `${row.text}: ${text}` : text;
  }

  return { line, isCell: (role) => CELLS.has(role) };
});
