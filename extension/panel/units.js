/** Times and sizes as people say them. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SIZES = ["B", "KB", "MB", "GB"];
// Made once: making one takes longer than a hundred uses of it.
const NUMBERS = new Intl.NumberFormat("en");
const TIMES = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DATES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const MOMENTS = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number} ms */
export function duration(ms) {
  if (!Number.isFinite(ms)) return "";
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  // Rounded first: 9,960 ms are ten seconds.
  if (Math.round(ms / 100) < 100) return `${(Math.round(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

/** @param {number} count of bytes */
export function size(count) {
  if (!Number.isFinite(count) || count < 0) return "";
  let unit = 0;
  let left = count;
  while (left >= 999.5 && unit < SIZES.length - 1) {
    left /= 1024;
    unit++;
  }
  const digits = unit && left < 9.95 ? 1 : 0;
  return `${left.toFixed(digits)} ${SIZES[unit]}`;
}

/**
 * @param {number | null | undefined} time in milliseconds since 1970
 * @param {number} now
 */
export function ago(time, now) {
  if (!time || !Number.isFinite(time)) return "never";
  const past = now - time;
  if (past < 5 * SECOND) return "just now";
  if (past < MINUTE) return `${Math.floor(past / SECOND)} s ago`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 7 * DAY) return count(Math.floor(past / DAY), "day", " ago");
  return written(DATES, time);
}

/**
 * @param {number} number
 * @param {string} noun
 * @param {string} [after]
 */
export function count(number, noun, after = "") {
  return `${figure(number)} ${noun}${number === 1 ? "" : "s"}${after}`;
}

/** @param {number} number */
export function figure(number) {
  return NUMBERS.format(number);
}

/** @param {number} time */
export function clock(time) {
  return written(TIMES, time);
}

/** @param {number} time */
export function moment(time) {
  return written(MOMENTS, time);
}

/**
 * @param {Intl.DateTimeFormat} format
 * @param {number} time
 */
function written(format, time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : format.format(date);
}
