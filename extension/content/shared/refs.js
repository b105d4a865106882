/** Ref numbers of elements: the same number as long as the element is in this document. */
tabhub.define("refs", () => {
  const SWEEP_ABOVE = 5000;
  /** @type {WeakMap<Element, number>} */
  const numbers = new WeakMap();
  /** @type {Map<number, WeakRef<Element>>} */
  const elements = new Map();
  /** @type {TabhubRange | undefined} */
  let range;
  let sweepAt = SWEEP_ABOVE;

  function sweep() {
    for (const [number, held] of elements) if (!held.deref()) elements.delete(number);
    sweepAt = Math.max(SWEEP_ABOVE, elements.size * 2);
  }

  /** @type {TabhubRefs["mint"]} */
  function mint(element) {
    const known = numbers.get(element);
    if (known !== undefined) return known;
    if (!range) return tabhub.fail("internal", "This frame has no numbers for refs yet.");
    const number = range.next++;
    numbers.set(element, number);
    elements.set(number, new WeakRef(element));
    if (elements.size > sweepAt) sweep();
    return number;
  }

  /** @type {TabhubRefs["resolve"]} */
  function resolve(number) {
    const element = elements.get(number)?.deref();
    if (element && tabhub.dom.isConnected(element)) return element;
    const message = `ref_${number} is not on the page any more. Read the page again.`;
    return tabhub.fail("stale_ref", message);
  }

  return {
    adopt: (given) => void (range ??= { ...given }),
    range: () => range,
    mint,
    resolve,
  };
});
