/** The areas of an image map: the browser draws nothing for them, but they are there to be clicked. */
tabhub.define("areas", () => {
  const { attr, has, isVisible, parent, queryAll, rect, root, tag } = tabhub.dom;

  /**
   * @param {Element} area
   * @returns {Element | null} the picture it lies on
   */
  function pictureOf(area) {
    const map = parent(area);
    const name = map && tag(map) === "map" ? attr(map, "name") : null;
    if (!name) return null;
    const pictures = queryAll(root(area), "img[usemap]");
    return pictures.find((img) => attr(img, "usemap") === `#${name}` && isVisible(img)) ?? null;
  }

  /**
   * @param {Element} area
   * @param {DOMRect} picture
   */
  function within(area, picture) {
    const numbers = (attr(area, "coords") ?? "").split(",").map(Number);
    const shape = (attr(area, "shape") ?? "rect").toLowerCase();
    if (shape === "default") return new DOMRect(0, 0, picture.width, picture.height);
    if (shape.startsWith("circ")) {
      const [x, y, r] = numbers;
      return new DOMRect(x - r, y - r, r * 2, r * 2);
    }
    const across = numbers.filter((_, i) => i % 2 === 0);
    const down = numbers.filter((_, i) => i % 2 === 1);
    const [left, top] = [Math.min(...across), Math.min(...down)];
    return new DOMRect(left, top, Math.max(...across) - left, Math.max(...down) - top);
  }

  return {
    isArea: (element, name) => name === "area" && has(element, "href"),
    picture: pictureOf,
    rect(area) {
      const picture = pictureOf(area);
      if (!picture) return new DOMRect();
      const frame = rect(picture);
      const inner = within(area, frame);
      return new DOMRect(frame.x + inner.x, frame.y + inner.y, inner.width, inner.height);
    },
  };
});
