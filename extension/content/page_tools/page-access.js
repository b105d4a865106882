/**
 * Whether this page may publish tools. Until the worker has said so, nothing that the page could
 * notice is sent to it; what it announces by itself is remembered.
 */
tabhub.define("pageAccess", () => {
  let isAllowed = false;
  /** @type {((isAllowed: boolean) => void)[]} */
  const listeners = [];

  /** @type {TabhubPageAccess["set"]} */
  function set(body) {
    if (body.isAllowed === isAllowed) return;
    isAllowed = body.isAllowed;
    for (const listener of listeners) listener(isAllowed);
  }

  return { isAllowed: () => isAllowed, onChange: (listener) => listeners.push(listener), set };
});
