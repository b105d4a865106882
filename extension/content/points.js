/** Points of the viewport, and what is there. */
tabhub.define("points", () => {
  const FRAMES = new Set(["iframe", "frame", "object", "embed"]);

  /** @type {TabhubPoints["at"]} */
  function at({ x, y }) {
    const found = tabhub.hit.at({ x, y });
    if (found) return found;
    const size = `${window.innerWidth}x${window.innerHeight}`;
    const place = `(${Math.round(x)}, ${Math.round(y)})`;
    return tabhub.fail("not_visible", `Nothing is at ${place} of the viewport of ${size}.`);
  }

  return {
    at,
    inViewport: ({ x, y, pageX, pageY }) => ({
      x: x ?? (pageX ?? 0) - window.scrollX,
      y: y ?? (pageY ?? 0) - window.scrollY,
    }),
    frameAt(point) {
      const element = at(point);
      if (!FRAMES.has(tabhub.dom.tag(element))) return null;
      return tabhub.childframes.within(element, point);
    },
  };
});
