/** How soon a change of a page's tools is told: at once when it is rare, ever later in a flood. */
tabhub.define("toolpace", () => {
  const FIRST_MS = 50;
  const DEBOUNCE_MS = 500;
  const BURST = 10;
  const PER_SECOND = 1 / 3;
  const COST_OF_CHARACTERS = 200_000;
  /** Who says over and over that something has changed, and nothing has, is asked less often. */
  const COST_IN_VAIN = 0.5;

  /** @type {TabhubToolPace["make"]} */
  function make(now) {
    const quota = tabhub.quota.make(BURST, PER_SECOND, now);
    let isFirst = true;

    return {
      wait: () => Math.max(isFirst ? FIRST_MS : DEBOUNCE_MS, quota.wait()),
      told(characters) {
        isFirst = false;
        quota.spend(1 + characters / COST_OF_CHARACTERS);
      },
      inVain: () => quota.spend(COST_IN_VAIN),
    };
  }

  return { make };
});
