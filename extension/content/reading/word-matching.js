/** How similar two words are: the same, another form, a part, or slightly misspelt. */
tabhub.define("spelling", () => {
  const ENDING = /(?:ing|ed|es|s)$/;
  const STEM_LENGTH = 3;
  const ALIKE = { same: 1, form: 0.95, part: 0.8, misspelt: 0.75 };

  /** @param {string} word */
  function stem(word) {
    const short = word.replace(ENDING, "");
    return short.length >= STEM_LENGTH ? short : word;
  }

  /**
   * @param {string} wanted
   * @param {string} word
   */
  function isPart(wanted, word) {
    // In scripts without spaces, short words are inside long runs of text.
    const isWide = /[^\u0000-\u024f]/.test(wanted);
    if (isWide) return wanted.length > 1 && word.includes(wanted);
    return wanted.length > STEM_LENGTH && word.startsWith(wanted);
  }

  /**
   * @param {string} a
   * @param {string} b
   */
  function isMisspelt(a, b) {
    const most = a.length >= 8 ? 2 : a.length >= 5 ? 1 : 0;
    return most > 0 && Math.abs(a.length - b.length) <= most && distance(a, b) <= most;
  }

  /**
   * The edit distance: letters that are wrong, missing, extra, or swapped.
   * @param {string} a
   * @param {string} b
   */
  function distance(a, b) {
    /** @type {number[][]} */
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
      rows[i] = [i];
      for (let j = 1; j <= b.length; j++) rows[i][j] = cost(rows, a, b, i, j);
    }
    return rows[a.length][b.length];
  }

  /**
   * @param {number[][]} rows
   * @param {string} a
   * @param {string} b
   * @param {number} i
   * @param {number} j
   */
  function cost(rows, a, b, i, j) {
    const wrong = a[i - 1] === b[j - 1] ? 0 : 1;
    const plain = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + wrong);
    const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
    return isSwap ? Math.min(plain, rows[i - 2][j - 2] + 1) : plain;
  }

  return {
    likeness(wanted, word) {
      if (word === wanted) return ALIKE.same;
      if (stem(word) === stem(wanted)) return ALIKE.form;
      if (isPart(wanted, word)) return ALIKE.part;
      return isMisspelt(wanted, word) ? ALIKE.misspelt : 0;
    },
  };
});

/**
 * How well an element matches a description in words. Most of the words must be in its name or
 * attributes, literally, as a synonym, or slightly misspelt.
 */
tabhub.define("matching", () => {
  const { concepts, roles, empty, soft } = tabhub.synonyms;
  const WORD = /[\p{L}\p{N}]+/gu;
  const MARKS = /\p{M}/gu;
  const NEEDED = 0.6;
  const SOFT_WEIGHT = 0.25;
  const IN_ATTRIBUTES = 0.6;
  const SAME = 1;
  const MEANING = 0.85;

  /**
   * A word or phrase of the query.
   * @typedef {object} Term
   * @property {string} text
   * @property {number | undefined} concept
   * @property {Set<string> | undefined} roles that are called so
   * @property {number} weight
   * @property {Map<string, number>} known how similar the page's words are to it
   */
  /** @typedef {{words: string[], concepts: Map<number, string>, text: string}} Parsed */
  /** @typedef {{quality: number, by: string}} Hit */

  /** @param {string} text */
  function wordsIn(text) {
    return text.normalize("NFKD").replace(MARKS, "").toLowerCase().match(WORD) ?? [];
  }

  /** @param {string} text */
  function parse(text) {
    const words = wordsIn(text);
    /** @type {Map<number, string>} */
    const meant = new Map();
    words.forEach((word, i) => {
      for (const phrase of [word, `${word} ${words[i + 1]}`]) {
        const concept = concepts.get(phrase);
        if (concept !== undefined) meant.set(concept, phrase);
      }
    });
    return { words, concepts: meant, text: words.join(" ") };
  }

  /**
   * @param {Term} term
   * @param {Parsed} there
   * @returns {Hit}
   */
  function hit(term, there) {
    if (` ${there.text} `.includes(` ${term.text} `)) return { quality: SAME, by: term.text };
    let best = { quality: 0, by: "" };
    for (const word of there.words) {
      const quality = term.known.get(word) ?? tabhub.spelling.likeness(term.text, word);
      term.known.set(word, quality);
      if (quality > best.quality) best = { quality, by: word };
    }
    const meant = term.concept === undefined ? undefined : there.concepts.get(term.concept);
    return meant && best.quality < MEANING ? { quality: MEANING, by: meant } : best;
  }

  /**
   * @param {string} query
   * @returns {Term[]}
   */
  function termsOf(query) {
    const words = wordsIn(query);
    const terms = [];
    for (let i = 0; i < words.length; i++) {
      const phrase = `${words[i]} ${words[i + 1]}`;
      terms.push(term(concepts.has(phrase) ? phrase : words[i]));
      if (concepts.has(phrase)) i++;
    }
    const specific = terms.filter(({ text }) => !empty.has(text));
    return specific.length ? specific : terms;
  }

  /** @param {string} text */
  function term(text) {
    const weight = soft.has(text) ? SOFT_WEIGHT : 1;
    return { text, concept: concepts.get(text), roles: roles.get(text), weight, known: new Map() };
  }

  /**
   * @param {Term} term
   * @param {Parsed} name
   * @param {Parsed} attributes
   * @returns {Hit & {isWeak: boolean}}
   */
  function bestHit(term, name, attributes) {
    const inName = hit(term, name);
    const inAttributes = hit(term, attributes);
    const isWeak = inAttributes.quality * IN_ATTRIBUTES > inName.quality;
    if (!isWeak) return { ...inName, isWeak };
    return { quality: inAttributes.quality * IN_ATTRIBUTES, by: inAttributes.by, isWeak };
  }

  /** @param {{term: Term, quality: number}[]} hits */
  function covered(hits) {
    const whole = hits.reduce((sum, { term }) => sum + term.weight, 0);
    const found = hits.reduce((sum, { term, quality }) => sum + term.weight * quality, 0);
    return whole ? found / whole : 0;
  }

  /** @param {{term: Term, quality: number, by: string, isWeak: boolean, isRole: boolean}} hit */
  function explain({ term, quality, by, isWeak, isRole }) {
    if (isRole) return `role fits "${term.text}"`;
    if (!quality) return `nothing for "${term.text}"`;
    const where = isWeak ? "attributes have" : "name has";
    return by === term.text ? `${where} "${by}"` : `${where} "${by}" for "${term.text}"`;
  }

  class Query {
    #terms;
    #text;

    /** @param {string} query */
    constructor(query) {
      this.#terms = termsOf(query);
      this.#text = this.#terms.map(({ text }) => text).join(" ");
    }

    /**
     * @param {TabhubItem} item
     * @returns {{score: number, reason: string} | null}
     */
    match({ role, name, rest, hasRef }) {
      const there = parse(name);
      const attributes = parse(rest);
      const hits = this.#terms.map((term) => {
        const isRole = Boolean(term.roles?.has(role));
        return { term, isRole, ...bestHit(term, there, attributes) };
      });
      const coverage = this.#coverage(hits);
      if (coverage < NEEDED) return null;
      const extras = this.#extras(hits, there) + (hasRef ? 0.15 : 0);
      return { score: coverage + extras, reason: hits.map(explain).join(", ") };
    }

    /**
     * Words for roles need not be in the name; a query of such words alone asks for the role.
     * @param {{term: Term, quality: number, isRole: boolean}[]} hits
     */
    #coverage(hits) {
      const content = hits.filter(({ term }) => !term.roles);
      if (content.length) return covered(content);
      return covered(hits.map((hit) => (hit.isRole ? { ...hit, quality: 1 } : hit)));
    }

    /**
     * @param {{term: Term, quality: number, isRole: boolean}[]} hits
     * @param {Parsed} there
     */
    #extras(hits, there) {
      const wanted = hits.filter(({ term }) => term.roles);
      const fits = wanted.some(({ isRole, quality }) => isRole || quality > 0);
      const forRole = wanted.length ? (fits ? 0.3 : -0.5) : 0;
      const same = hits.filter(({ quality }) => quality > 0).length;
      const share = Math.min(same / Math.max(there.words.length, 1), 1);
      const isPhrase = this.#text.length > 0 && there.text.includes(this.#text);
      return forRole + share * 0.2 + (isPhrase ? 0.2 : 0);
    }
  }

  return { query: (text) => new Query(text) };
});
