/** Writing into an editor that does not hold its text in the field that has the focus. */
tabhub.define("editorWriting", () => {
  const [CTRL, META] = [2, 4];
  const isMac = navigator.platform.startsWith("Mac");
  const KEYS = {
    all: {
      key: "a",
      code: "KeyA",
      windowsVirtualKeyCode: 65,
      modifiers: isMac ? META : CTRL,
    },
    end: isMac
      ? {
          key: "ArrowDown",
          code: "ArrowDown",
          windowsVirtualKeyCode: 40,
          modifiers: META,
        }
      : { key: "End", code: "End", windowsVirtualKeyCode: 35, modifiers: CTRL },
    delete: {
      key: "Delete",
      code: "Delete",
      windowsVirtualKeyCode: 46,
      modifiers: 0,
    },
  };

  /** @param {keyof typeof KEYS} name */
  function press(name) {
    const key = KEYS[name];
    tabhub.keyboard.play([
      { type: "rawKeyDown", ...key },
      { type: "keyUp", ...key },
    ]);
  }

  /**
   * As if pasted: an editor indents and closes what is typed.
   * @param {Element} element
   * @param {string} text
   */
  function paste(element, text) {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const how = {
      bubbles: true,
      cancelable: true,
      composed: true,
      clipboardData,
    };
    const isTaken = !tabhub.synthetic.send(element, new ClipboardEvent("paste", how));
    if (!isTaken) tabhub.writing.write(text);
  }

  return {
    write({ input }, text, clear) {
      if (!tabhub.focus.take(input)) {
        tabhub.fail("not_visible", "The editor does not take the focus.");
      }
      press(clear ? "all" : "end");
      if (text) paste(input, text);
      else if (clear) press("delete");
    },
  };
});
