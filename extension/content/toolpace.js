/** How soon a change of a page's tools is told: at once when it is rare, ever later in a flood. */
tabhub.define("toolpace", () => {
  const FIRST_MS = 50;
  const DEBOUNCE_MS = 500;
  const BURST = 10;
  const REGAIN_MS = 3000;
  const COST_OF_CHARACTERS = 200_000;

  /** @type {TabhubToolPace["make"]} */
  function make(now) {
    let left = BURST;
    let since = now();
    let isFirst = true;

    function regain() {
      left = Math.min(BURST, left + (now() - since) / REGAIN_MS);
      since = now();
    }

    return {
      wait() {
        regain();
        if (isFirst) return FIRST_MS;
        return Math.max(DEBOUNCE_MS, (1 - left) * REGAIN_MS);
      },
      told(characters) {
        regain();
        isFirst = false;
        left -= 1 + characters / COST_OF_CHARACTERS;
      },
    };
  }

  return { make };
});
