/** What was read of the documents lately, so that a later reading can tell only what is new. */

const STORED = "reads";
const KEPT_FOR_PAGE = 5;
const KEPT_PAGES = 20;
const KEPT_CHARS = 300_000;

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./reading/page-reading.js").Manner} Manner */
/** @typedef {{manner: Manner, text: string, entered: Frame[]}} Snapshot */

/** @type {Map<Frame, Map<number, Snapshot>>} by document, the one read last at the end */
const snapshots = new Map();
/** @type {Promise<number> | undefined} */
let last;

/** Numbers go on after the worker's death: an old one must not mean a new reading. */
async function nextNumber() {
  last ??= chrome.storage.session.get(STORED).then((stored) => Number(stored[STORED]) || 0);
  last = last.then((number) => number + 1);
  const number = await last;
  void chrome.storage.session.set({ [STORED]: number });
  return number;
}

/**
 * @param {Map<any, unknown>} map
 * @param {number} size
 */
function dropOldest(map, size) {
  for (const key of map.keys()) {
    if (map.size <= size) return;
    map.delete(key);
  }
}

/**
 * @param {Frame} main
 * @param {Snapshot} snapshot
 * @returns {Promise<number>} by which it can be recalled
 */
export async function remember(main, snapshot) {
  const read = await nextNumber();
  if (snapshot.text.length > KEPT_CHARS) return read;
  const ofPage = snapshots.get(main) ?? new Map();
  snapshots.delete(main);
  snapshots.set(main, ofPage.set(read, snapshot));
  dropOldest(ofPage, KEPT_FOR_PAGE);
  dropOldest(snapshots, KEPT_PAGES);
  return read;
}

/**
 * Only in the document it was read of, and for who may enter the same frames: what another page
 * showed, or showed to others, is not told here.
 * @param {Frame} main
 * @param {unknown} read
 * @param {import("./reach.js").Reach} reach
 */
export function recall(main, read, reach) {
  const snapshot = snapshots.get(main)?.get(Number(read));
  return snapshot?.entered.every((frame) => reach.allows(frame)) ? snapshot : undefined;
}
