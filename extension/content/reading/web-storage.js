/** The web storage of the page's origin. */
tabhub.define("storage", () => {
  /** A larger result might not fit into one message of the link. */
  const MOST_CHARS = 1_000_000;

  /** @param {string} kind */
  function storageOf(kind) {
    try {
      return kind === "session" ? window.sessionStorage : window.localStorage;
    } catch {
      return tabhub.fail("csp_blocked", "The browser gives this page no storage.");
    }
  }

  /** @param {Storage} storage */
  function keysOf(storage) {
    return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  }

  return {
    read({ storageType, key }) {
      const storage = storageOf(storageType);
      const keys = keysOf(storage).filter((one) => key === undefined || one === key);
      /** @type {[string, string][]} */
      const entries = [];
      let room = MOST_CHARS;
      for (const one of keys) {
        const value = storage.getItem(one) ?? "";
        room -= one.length + value.length;
        if (room >= 0) entries.push([one, value]);
      }
      return { entries, total: keys.length };
    },
  };
});
