/** What differs between two readings, line by line. */

/** @typedef {{old: number, now: number}} Pair two lines that are the same line */

/**
 * New lines begin with "+", lines that are gone with "-".
 * @param {string} before
 * @param {string} after
 */
export function delta(before, after) {
  const old = before.split("\n");
  const now = after.split("\n");
  const lines = [];
  let at = { old: 0, now: 0 };
  for (const pair of [...pairs(old, now), { old: old.length, now: now.length }]) {
    const gone = old.slice(at.old, pair.old).map((line) => `-${line}`);
    const fresh = now.slice(at.now, pair.now).map((line) => `+${line}`);
    for (const line of gone.concat(fresh)) lines.push(line);
    at = { old: pair.old + 1, now: pair.now + 1 };
  }
  return lines.join("\n");
}

/**
 * Lines that stayed: those at both ends, and between them those that occur only once. That takes no
 * longer than sorting, however large the pages are.
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Pair[]}
 */
function pairs(old, now) {
  const whole = { from: { old: 0, now: 0 }, to: { old: old.length, now: now.length } };
  const { head, tail, rest } = ends(old, now, whole);
  const anchors = rising(unique(old, now, rest));
  let { from } = rest;
  const between = [];
  for (const to of [...anchors, rest.to]) {
    const gap = ends(old, now, { from, to });
    between.push(...gap.head, ...gap.tail);
    if (to !== rest.to) between.push(to);
    from = { old: to.old + 1, now: to.now + 1 };
  }
  return [...head, ...between, ...tail];
}

/** @typedef {{from: Pair, to: Pair}} Part */

/**
 * @param {string[]} old
 * @param {string[]} now
 * @param {Part} part
 */
function ends(old, now, { from, to }) {
  /** @type {Pair[]} */
  const head = [];
  /** @type {Pair[]} */
  const tail = [];
  let { old: i, now: j } = from;
  while (i < to.old && j < to.now && old[i] === now[j]) head.push({ old: i++, now: j++ });
  let { old: k, now: l } = to;
  while (k > i && l > j && old[k - 1] === now[l - 1]) tail.push({ old: --k, now: --l });
  return { head, tail: tail.reverse(), rest: { from: { old: i, now: j }, to: { old: k, now: l } } };
}

/**
 * @param {string[]} old
 * @param {string[]} now
 * @param {Part} part
 * @returns {Pair[]} by their place in `now`
 */
function unique(old, now, { from, to }) {
  const inOld = placesOfSingles(old, from.old, to.old);
  const inNow = placesOfSingles(now, from.now, to.now);
  return [...inNow].flatMap(([line, at]) => {
    const place = inOld.get(line);
    return place === undefined ? [] : [{ old: place, now: at }];
  });
}

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {number} to
 */
function placesOfSingles(lines, from, to) {
  /** @type {Map<string, number>} */
  const places = new Map();
  const twice = new Set();
  for (let i = from; i < to; i++) {
    if (places.has(lines[i])) twice.add(lines[i]);
    else places.set(lines[i], i);
  }
  for (const line of twice) places.delete(line);
  return places;
}

/**
 * The longest sequence of pairs that is in order on both sides.
 * @param {Pair[]} found in order of `now`
 */
function rising(found) {
  /** @type {{pair: Pair, before: any}[]} the best sequence of each length, by its last pair */
  const best = [];
  for (const pair of found) {
    const length = firstNotBelow(best, pair.old);
    best[length] = { pair, before: best[length - 1] };
  }
  const row = [];
  for (let last = best.at(-1); last; last = last.before) row.push(last.pair);
  return row.reverse();
}

/**
 * @param {{pair: Pair}[]} best
 * @param {number} old
 */
function firstNotBelow(best, old) {
  let [low, high] = [0, best.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (best[middle].pair.old < old) low = middle + 1;
    else high = middle;
  }
  return low;
}
