/** Loading what a view shows again when the state changes, but not with every change of many. */

const EVERY_MS = 2000;

/**
 * @param {(app: App) => Promise<void>} load
 * @returns {(app: App) => void} loads at once, or when two seconds have passed since the last time
 */
export function refreshing(load) {
  let loadedAt = -Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return (app) => {
    const run = () => {
      timer = undefined;
      loadedAt = performance.now();
      void load(app);
    };
    timer ??= setTimeout(run, Math.max(0, loadedAt + EVERY_MS - performance.now()));
  };
}
