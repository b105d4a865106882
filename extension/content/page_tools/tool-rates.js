/** How often a thing may happen: so many at once, and then so many a second. */
tabhub.define("quota", () => {
  /** @type {TabhubQuota["make"]} */
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
