/**
 * Nothing is pressed by accident: the buttons of an approval rest for a moment whenever it has
 * come, or has moved under the pointer.
 */

const REST_MS = 500;

/** @type {WeakMap<HTMLElement, string>} where each was last */
const places = new WeakMap();
/** @type {WeakMap<HTMLElement, ReturnType<typeof setTimeout>>} */
const timers = new WeakMap();
/** @type {WeakSet<HTMLElement>} those that were answered */
const held = new WeakSet();

/** @param {Iterable<HTMLElement>} articles */
export function restIfMoved(articles) {
  for (const article of articles) {
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = article;
    const place = [offsetLeft, offsetTop, offsetWidth, offsetHeight].join();
    if (places.get(article) !== place) rest(article);
    places.set(article, place);
  }
}

/** @param {HTMLElement} article */
export function rest(article) {
  clearTimeout(timers.get(article));
  const focused = document.activeElement;
  setDisabled(article, true);
  const wake = () => {
    if (held.has(article)) return;
    setDisabled(article, false);
    // Disabling took the focus away; who had it by keyboard gets it back.
    if (document.activeElement === document.body && focused && article.contains(focused)) {
      /** @type {HTMLElement} */ (focused).focus();
    }
  };
  timers.set(article, setTimeout(wake, REST_MS));
}

/** @param {HTMLElement} article */
export function hold(article) {
  held.add(article);
  setDisabled(article, true);
}

/** @param {HTMLElement} article */
export function release(article) {
  held.delete(article);
  rest(article);
}

/**
 * @param {HTMLElement} article
 * @param {boolean} disabled
 */
function setDisabled(article, disabled) {
  article.querySelectorAll("button").forEach((button) => (button.disabled = disabled));
}
