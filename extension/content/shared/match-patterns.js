/**
 * Match patterns, as manifests and plugins have them: `*://*.example.com/path/*`. Not a part of
 * `tabhub`, since the service worker uses them too.
 */
if (!Object.hasOwn(globalThis, "tabhubIsMatch")) {
  const makeIsMatch = () => {
    const PATTERN = /^(\*|https?):\/\/(\*|\[[^\]/]+\]|(?:\*\.)?[^/*:]+)(?::(\d+|\*))?(\/.*)$/;

    /**
     * @param {{urlPatterns: string[], excludePatterns: string[]}} patterns
     * @param {string} address
     */
    function isMatch({ urlPatterns, excludePatterns }, address) {
      const url = URL.canParse(address) ? new URL(address) : null;
      if (!url || !/^https?:$/.test(url.protocol)) return false;
      const fits = (/** @type {string} */ pattern) => matches(pattern, url);
      return urlPatterns.some(fits) && !excludePatterns.some(fits);
    }

    /**
     * @param {string} pattern
     * @param {URL} url
     */
    function matches(pattern, url) {
      const [, scheme, host = "", port = "*", path = ""] = PATTERN.exec(pattern) ?? [];
      if (!scheme || (scheme !== "*" && url.protocol !== `${scheme}:`)) return false;
      if (port !== "*" && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) {
        return false;
      }
      return hasHost(host.toLowerCase(), url.hostname) && hasPath(path, url.pathname + url.search);
    }

    /**
     * @param {string} host
     * @param {string} name
     */
    function hasHost(host, name) {
      const plain = name.replace(/\.$/, "");
      if (host === "*" || host === plain) return true;
      return host.startsWith("*.") && (plain === host.slice(2) || plain.endsWith(host.slice(1)));
    }

    /**
     * In linear time: a page chooses its own path.
     * @param {string} glob
     * @param {string} path
     */
    function hasPath(glob, path) {
      const [first = "", ...rest] = glob.split("*");
      const last = rest.pop();
      if (last === undefined) return glob === path;
      if (!path.startsWith(first)) return false;
      let at = first.length;
      for (const part of rest) {
        const found = path.indexOf(part, at);
        if (found < 0) return false;
        at = found + part.length;
      }
      return path.length - last.length >= at && path.endsWith(last);
    }

    return isMatch;
  };
  // A script for the start of a document brings its own.
  const value = Object.assign(makeIsMatch(), { source: String(makeIsMatch) });
  Object.defineProperty(globalThis, "tabhubIsMatch", { value });
}
