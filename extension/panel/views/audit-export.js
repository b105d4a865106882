/** Saves the audit log, or what a filter leaves of it, as a file. */

import { size } from "../units.js";

const MOST_PAGES = 2000;
const TYPES = { ndjson: "application/x-ndjson", csv: "text/csv" };

/**
 * Page by page, since the whole log would not fit into one message.
 * @param {"ndjson" | "csv"} format
 * @param {Omit<Panel.AuditList, "limit" | "before">} filter
 * @param {App} app
 * @param {(progress: string) => void} report
 */
export async function download(format, filter, app, report) {
  /** @type {string[]} */
  const parts = [];
  let length = 0;
  /** @type {Panel.AuditRows["next"]} */
  let before = null;
  for (let page = 0; page < MOST_PAGES; page++) {
    /** @type {Panel.AuditText | null} */
    const found = await app.ask("audit.export", { ...filter, format, before });
    if (!found) return report("It could not be exported.");
    parts.push(found.text);
    length += found.text.length;
    if (found.next === null) break;
    before = found.next;
    report(`${size(length)}…`);
  }
  save(new Blob(parts, { type: TYPES[format] }), `tabhub-audit.${format}`);
  report(`Saved ${size(length)}.`);
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has the file by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
