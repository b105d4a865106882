/** What is to outlive this worker, in the session's storage. */

const REST_MS = 200;

/**
 * A page decides how often much of this changes: it is written at once, then now and then.
 * @param {string} key
 * @param {() => unknown} dump
 * @returns {() => void} to be called after every change
 */
export function keeper(key, dump) {
  let isResting = false;
  let isStale = false;
  const write = () => {
    isResting = true;
    isStale = false;
    // What does not fit into the storage is not kept.
    chrome.storage.session.set({ [key]: dump() }).catch(() => {});
    setTimeout(() => {
      isResting = false;
      if (isStale) write();
    }, REST_MS);
  };
  return () => {
    isStale = true;
    if (!isResting) write();
  };
}
