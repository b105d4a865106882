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

  /**
   * @param {Storage} storage
   * @param {string} key
   * @param {string} value
   */
  function put(storage, key, value) {
    try {
      storage.setItem(key, value);
    } catch {
      tabhub.fail("too_large", "The browser has no room for this in the page's storage.");
    }
  }

  return {
    use({ area, action, key, value }) {
      const storage = storageOf(area);
      if (action === "keys") return { keys: keysOf(storage) };
      if (key === undefined) return tabhub.fail("invalid_arguments", "The key is missing.");
      if (action === "set" && value === undefined)
        return tabhub.fail("invalid_arguments", "The value is missing.");
      if (action === "set") put(storage, key, value ?? "");
      if (action === "remove") storage.removeItem(key);
      return { value: storage.getItem(key) };
    },
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
