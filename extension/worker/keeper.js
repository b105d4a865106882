/** What is to outlive this worker, in the session's storage. */

/** How much longer than a write takes it rests after it. */
const RESTS = 3;

/**
 * A page decides how often much of this changes: it is written at once, but never twice at a time,
 * and what is large more seldom.
 * @param {string} key
 * @param {() => unknown} dump
 * @returns {() => void} to be called after every change
 */
export function keeper(key, dump) {
  let isBusy = false;
  let isStale = false;
  const write = async () => {
    isBusy = true;
    isStale = false;
    const began = Date.now();
    // What does not fit into the storage is not kept.
    await chrome.storage.session.set({ [key]: dump() }).catch(() => {});
    setTimeout(rested, RESTS * (Date.now() - began));
  };
  const rested = () => {
    isBusy = false;
    if (isStale) void write();
  };
  return () => {
    isStale = true;
    if (!isBusy) void write();
  };
}
