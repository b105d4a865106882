/** What the badge on our button says. */

const RED = "#b3261e";
const GREY = "#5f6368";

/** @typedef {{pending: number, missed: boolean, stopped: boolean}} Waiting what waits for the person */

/**
 * @param {Waiting} waiting
 * @returns {{text: string, color: string}}
 */
export function badgeOf({ pending, missed, stopped }) {
  if (pending) return { text: String(pending), color: RED };
  if (missed) return { text: "!", color: RED };
  return { text: stopped ? "II" : "", color: GREY };
}
