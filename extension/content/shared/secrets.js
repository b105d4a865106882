/**
 * Which fields hold secrets. A password field stays one when the page shows it as plain text; in
 * shadow roots that is noticed only for fields that were read or filled before.
 */
tabhub.define("secrets", () => {
  const { attr } = tabhub.dom;
  const SECRET_WORDS = /^(?:cc-.*|one-time-code|(?:current|new)-password)$/;
  const SECRET_NAMES =
    /passw|passcode|passphrase|\b(?:pin|otp|cvv|cvc|csc|tan)\b|secret|card.?num/i;
  const MASK = "••••••";
  /** @type {WeakSet<Node>} */
  const passwords = new WeakSet();

  new MutationObserver((records) => {
    for (const { target, oldValue } of records) {
      if (oldValue?.toLowerCase() === "password") passwords.add(target);
    }
  }).observe(document, { subtree: true, attributeFilter: ["type"], attributeOldValue: true });

  /** @param {Element} element */
  function isPassword(element) {
    const isOne = element instanceof HTMLInputElement && element.type === "password";
    if (isOne) passwords.add(element);
    return isOne;
  }

  /** @param {Element} element */
  function isNamedSecret(element) {
    const words = (attr(element, "autocomplete") ?? "").toLowerCase().split(/\s+/);
    if (words.some((word) => SECRET_WORDS.test(word))) return true;
    const names = ["name", "id", "aria-label", "placeholder"].map(
      (key) => attr(element, key) ?? "",
    );
    return SECRET_NAMES.test(names.join(" ").replace(/[_-]/g, " ")) || isMasked(element);
  }

  /** @param {Element} element shown as dots only by its style */
  function isMasked(element) {
    const shown = getComputedStyle(element).getPropertyValue("-webkit-text-security");
    return shown !== "" && shown !== "none";
  }

  return {
    mask: (value) => (value ? MASK : ""),
    isPassword,
    isSecret: (element) => isPassword(element) || passwords.has(element) || isNamedSecret(element),
  };
});

/** The values of fields, and how much of them may be returned. */
tabhub.define("values", () => {
  const LENGTH = 20_000;
  const LIST_MARK = ", ";

  /** @type {TabhubValues["current"]} */
  function current(element) {
    if (element instanceof HTMLInputElement) return element.value;
    if (element instanceof HTMLTextAreaElement) {
      return tabhub.editors.isInput(element) ? tabhub.editors.text(element) : element.value;
    }
    if (element instanceof HTMLSelectElement) {
      return [...element.selectedOptions].map(({ value }) => value).join(LIST_MARK);
    }
    return element instanceof HTMLElement ? tabhub.editors.text(element) : "";
  }

  return {
    current,
    shown: (element, value) =>
      tabhub.secrets.isSecret(element)
        ? tabhub.secrets.mask(value)
        : tabhub.names.clip(value, LENGTH),
  };
});
