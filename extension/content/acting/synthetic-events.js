/**
 * Events for tabs in which the debugger cannot be used. Pages can see that they are not trusted.
 */
tabhub.define("synthetic", () => {
  const { dispatchEvent } = EventTarget.prototype;
  const [ALT, CTRL, META, SHIFT] = [1, 2, 4, 8];

  return {
    send(element, event) {
      tabhub.evidence.vouch(event);
      return dispatchEvent.call(element, event);
    },
    modifiers: (bits) => ({
      altKey: (bits & ALT) !== 0,
      ctrlKey: (bits & CTRL) !== 0,
      metaKey: (bits & META) !== 0,
      shiftKey: (bits & SHIFT) !== 0,
    }),
  };
});
