/** A rate limit: a number at once, and then a number per second. */
tabhub.define("rateLimit", () => {
  /** @type {TabhubRateLimit["make"]} */
  function make(most, perSecond, now = () => performance.now()) {
    let left = most;
    let since = now();

    function regain() {
      const time = now();
      left = Math.min(most, left + ((time - since) / 1000) * perSecond);
      since = time;
      return left;
    }

    /** @param {number} cost */
    function spend(cost) {
      left = regain() - cost;
    }

    return {
      spend,
      take() {
        const isLeft = regain() >= 1;
        if (isLeft) spend(1);
        return isLeft;
      },
      wait: () => Math.max(0, ((1 - regain()) / perSecond) * 1000),
    };
  }

  return { make };
});

/**
 * How soon a change of a page's tools is reported: at once if changes are rare, later and later if
 * they are many.
 */
tabhub.define("toolRate", () => {
  const FIRST_MS = 50;
  const DEBOUNCE_MS = 500;
  const BURST = 10;
  const PER_SECOND = 1 / 3;
  const COST_OF_CHARACTERS = 200_000;
  /** A source that keeps reporting changes without any is asked less often. */
  const COST_IN_VAIN = 0.5;

  /** @type {TabhubToolRate["make"]} */
  function make(now) {
    const limit = tabhub.rateLimit.make(BURST, PER_SECOND, now);
    let isFirst = true;

    return {
      wait: () => Math.max(isFirst ? FIRST_MS : DEBOUNCE_MS, limit.wait()),
      reported(characters) {
        isFirst = false;
        limit.spend(1 + characters / COST_OF_CHARACTERS);
      },
      inVain: () => limit.spend(COST_IN_VAIN),
    };
  }

  return { make };
});
