/** What fields hold, and how much of it may be told. */
tabhub.define("values", () => {
  const { innerText } = tabhub.dom;
  const LENGTH = 20_000;
  const LIST_MARK = ", ";

  /** @type {TabhubValues["current"]} */
  function current(element) {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      return element.value;
    }
    if (element instanceof HTMLSelectElement) {
      return [...element.selectedOptions].map(({ value }) => value).join(LIST_MARK);
    }
    return element instanceof HTMLElement ? innerText(element).replace(/\n$/, "") : "";
  }

  return {
    current,
    shown: (element, value) =>
      tabhub.secrets.isSecret(element)
        ? tabhub.secrets.mask(value)
        : tabhub.names.clip(value, LENGTH),
  };
});
