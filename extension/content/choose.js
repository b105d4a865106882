/** Choosing options of a select. */
tabhub.define("choose", () => {
  const { matches, tag } = tabhub.dom;
  const { clip } = tabhub.names;
  const { shown } = tabhub.values;
  const { refuseDisabled, showPart } = tabhub.target;
  const { dispatchEvent } = EventTarget.prototype;
  const OPTIONS_NAMED = 30;
  const LABEL_LENGTH = 100;

  /** @param {HTMLOptionElement} option */
  const labelOf = ({ label }) => label.trim();
  /** @type {Record<"value" | "label", (option: HTMLOptionElement, wanted: string) => boolean>} */
  const FITS = {
    value: (option, wanted) => option.value === wanted,
    label: (option, wanted) => labelOf(option) === wanted.trim(),
  };

  /** @param {HTMLOptionElement} option */
  function named(option) {
    return `"${clip(labelOf(option), LABEL_LENGTH)}"`;
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {string} wanted
   * @returns {never}
   */
  function refuseUnknown(select, wanted) {
    const options = [...select.options];
    const names = options.slice(0, OPTIONS_NAMED).map(named).join(", ");
    const list = `The options are: ${names}${options.length > OPTIONS_NAMED ? ", …" : ""}.`;
    const what = clip(shown(select, wanted), LABEL_LENGTH);
    return tabhub.fail("invalid_arguments", `There is no option "${what}". ${list}`);
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {string} wanted
   * @param {("value" | "label")[]} ways
   */
  function find(select, wanted, ways) {
    const options = [...select.options];
    const found = ways.flatMap((by) => options.find((option) => FITS[by](option, wanted)) ?? []);
    const option = found[0] ?? refuseUnknown(select, wanted);
    if (matches(option, ":disabled")) {
      tabhub.fail("disabled", `The option ${named(option)} is disabled.`);
    }
    return option;
  }

  /**
   * Through the browser's own setter: page libraries may watch the one of the element.
   * @param {HTMLOptionElement} option
   * @param {boolean} selected
   */
  function mark(option, selected) {
    const { set } = /** @type {PropertyDescriptor} */ (
      Object.getOwnPropertyDescriptor(HTMLOptionElement.prototype, "selected")
    );
    set?.call(option, selected);
  }

  /**
   * @param {HTMLSelectElement} select
   * @param {Set<HTMLOptionElement>} chosen
   */
  function set(select, chosen) {
    const wrong = [...select.options].filter((option) => option.selected !== chosen.has(option));
    if (!wrong.length) return;
    // In a select of one, choosing the right option gives up the other.
    for (const option of wrong)
      if (select.multiple || chosen.has(option)) mark(option, chosen.has(option));
    dispatchEvent.call(select, new Event("input", { bubbles: true, composed: true }));
    dispatchEvent.call(select, new Event("change", { bubbles: true }));
  }

  /** @param {Element} element */
  function requireSelect(element) {
    if (element instanceof HTMLSelectElement) return element;
    const advice = "Click it, then click the option.";
    return tabhub.fail("invalid_arguments", `A <${tag(element)}> is not a select. ${advice}`);
  }

  return {
    either(select, wanted) {
      set(select, new Set([find(select, wanted, ["value", "label"])]));
    },
    options(element, by, wanted) {
      const select = requireSelect(element);
      refuseDisabled(select);
      showPart(select);
      if (wanted.length > 1 && !select.multiple) {
        tabhub.fail("invalid_arguments", "Only one option of this select can be chosen.");
      }
      set(select, new Set(wanted.map((one) => find(select, one, [by]))));
    },
  };
});
