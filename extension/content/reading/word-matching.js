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
 * attributes, literally, as a synonym, or slightly misspelt; some may be in the row that it is in.
 */
tabhub.define("matching", () => {
  const { actions, concepts, roles, empty, soft } = tabhub.synonyms;
  const WORD = /[\p{L}\p{N}]+/gu;
  const LETTER = /[\p{L}\p{N}]/u;
  const MARKS = /\p{M}/gu;
  const MOST_TERMS = 50;
  const NEEDED = 0.6;
  /** With less than this in common, an element is not even near. */
  const NEAR = 0.25;
  const OF_ROLE = 0.1;
  const SOFT_WEIGHT = 0.25;
  const IN_ATTRIBUTES = 0.6;
  const IN_ROW = 0.7;
  const SAME = 1;
  const MEANING = 0.85;
  const WITHIN = 0.8;

  /**
   * A word or phrase of the query, or a symbol such as "+".
   * @typedef {object} Term
   * @property {string} text
   * @property {boolean} isSymbol
   * @property {number | undefined} concept
   * @property {Set<string> | undefined} roles that are called so
   * @property {boolean} isAction
   * @property {number} weight
   * @property {Map<string, number>} known how similar the page's words are to it
   */
  /**
   * @typedef {object} Parsed
   * @property {string[]} words
   * @property {Map<number, string>} concepts
   * @property {string} text the words, with spaces between them
   * @property {string} raw
   */
  /** @typedef {"name" | "attributes" | "row"} Place */
  /** @typedef {{quality: number, by: string}} Hit */
  /** @typedef {Hit & {term: Term, isRole: boolean, place: Place}} TermHit */

  /** @type {Hit} */
  const NO_HIT = { quality: 0, by: "" };

  /** @param {string} text */
  const plain = (text) => text.normalize("NFKD").replace(MARKS, "").toLowerCase();

  /** @param {string} text a text without letters consists of symbols */
  function wordsIn(text) {
    return text.match(WORD) ?? text.split(/\s+/).filter(Boolean);
  }

  /** @type {Parsed} */
  const NOTHING = { words: [], concepts: new Map(), text: "", raw: "" };

  /**
   * @param {string} text
   * @returns {Parsed}
   */
  function parse(text) {
    if (!text) return NOTHING;
    const raw = plain(text);
    const words = wordsIn(raw);
    /** @type {Map<number, string>} */
    const meant = new Map();
    words.forEach((word, i) => {
      for (const phrase of [word, `${word} ${words[i + 1]}`]) {
        const concept = concepts.get(phrase);
        if (concept !== undefined) meant.set(concept, phrase);
      }
    });
    return { words, concepts: meant, text: words.join(" "), raw };
  }

  /**
   * @param {Term} term
   * @param {Parsed} there
   * @returns {Hit}
   */
  function hit(term, there) {
    if (there === NOTHING) return NO_HIT;
    if (` ${there.text} `.includes(` ${term.text} `)) return { quality: SAME, by: term.text };
    if (term.isSymbol && there.raw.includes(term.text)) return { quality: WITHIN, by: term.text };
    let best = NO_HIT;
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
    const raw = plain(query);
    const words = raw.match(WORD) ?? [];
    const terms = [];
    for (let i = 0; i < words.length; i++) {
      const phrase = `${words[i]} ${words[i + 1]}`;
      terms.push(term(concepts.has(phrase) ? phrase : words[i]));
      if (concepts.has(phrase)) i++;
    }
    const specific = terms.filter(({ text }) => !empty.has(text));
    const isAboutWords = specific.some(({ roles }) => !roles);
    const all = isAboutWords ? specific : [...specific, ...symbolsIn(raw)];
    return (all.length ? all : terms).slice(0, MOST_TERMS);
  }

  /** @param {string} raw beside words, symbols are only punctuation */
  function symbolsIn(raw) {
    const alone = raw.split(/\s+/).filter((part) => part && !LETTER.test(part));
    return alone.map((text) => term(text));
  }

  /** @param {string} text */
  function term(text) {
    const weight = soft.has(text) ? SOFT_WEIGHT : 1;
    const isSymbol = !LETTER.test(text);
    const concept = concepts.get(text);
    const isAction = actions.has(text) || actions.has(concept);
    return { text, isSymbol, concept, roles: roles.get(text), isAction, weight, known: new Map() };
  }

  /**
   * @param {Term} term
   * @param {Parsed} name
   * @param {Parsed} attributes
   * @returns {Hit & {place: Place}}
   */
  function bestHit(term, name, attributes) {
    const inName = hit(term, name);
    const inAttributes = hit(term, attributes);
    const isWeak = inAttributes.quality * IN_ATTRIBUTES > inName.quality;
    if (!isWeak) return { ...inName, place: "name" };
    const quality = inAttributes.quality * IN_ATTRIBUTES;
    return { quality, by: inAttributes.by, place: "attributes" };
  }

  /** @param {{term: Term, quality: number}[]} hits */
  function covered(hits) {
    const whole = hits.reduce((sum, { term }) => sum + term.weight, 0);
    const found = hits.reduce((sum, { term, quality }) => sum + term.weight * quality, 0);
    return whole ? found / whole : 0;
  }

  /**
   * Words for roles need not be in the name; a query of such words alone asks for the role.
   * @param {TermHit[]} hits
   */
  function coverage(hits) {
    const content = hits.filter(({ term }) => !term.roles);
    if (content.length) return covered(content);
    return covered(hits.map((hit) => (hit.isRole ? { ...hit, quality: 1 } : hit)));
  }

  /**
   * How many words of the query are nowhere. What can be acted on may look like a button without
   * being one; a plain text is none.
   * @param {TermHit[]} hits
   * @param {boolean} hasRef
   */
  function missingOf(hits, hasRef) {
    const isMissing = (/** @type {TermHit} */ { term, quality, isRole }) =>
      !quality && !isRole && !(term.roles && hasRef) && !soft.has(term.text);
    return hits.filter(isMissing).length;
  }

  /** @param {TermHit} hit */
  function explain({ term, quality, by, place, isRole }) {
    if (isRole) return `role fits "${term.text}"`;
    if (!quality) return `nothing for "${term.text}"`;
    const where = place === "attributes" ? "attributes have" : `${place} has`;
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

    /** @type {TabhubQuery["match"]} */
    match({ role, name, rest, hasRef }, rowText) {
      const there = parse(name);
      const attributes = parse(rest);
      const own = this.#terms.map((term) => {
        const isRole = Boolean(term.roles?.has(role));
        return { term, isRole, ...bestHit(term, there, attributes) };
      });
      const hits = rowText ? inRow(own, hasRef, rowText) : own;
      const share = coverage(hits);
      const score = share + this.#extras(hits, there) + (hasRef ? 0.15 : 0);
      const found = { reason: reasonOf(hits), missing: missingOf(hits, hasRef) };
      if (share >= NEEDED) return { ...found, score, isNear: false };
      const isOfRole = hasRef && hits.some(({ isRole }) => isRole);
      if (share < NEAR && !isOfRole) return null;
      return { ...found, score: Math.max(score, OF_ROLE), isNear: true };
    }

    /**
     * @param {TermHit[]} hits
     * @param {Parsed} there
     */
    #extras(hits, there) {
      const wanted = hits.filter(({ term }) => term.roles);
      const fits = wanted.some(({ isRole, quality }) => isRole || quality > 0);
      const forRole = wanted.length ? (fits ? 0.3 : -0.5) : 0;
      const same = hits.filter(({ quality, place }) => quality > 0 && place !== "row").length;
      const share = Math.min(same / Math.max(there.words.length, 1), 1);
      const isPhrase = this.#text.length > 0 && there.text.includes(this.#text);
      return forRole + share * 0.2 + (isPhrase ? 0.2 : 0);
    }
  }

  /** @param {TermHit[]} hits */
  function reasonOf(hits) {
    return hits.map(explain).join(", ");
  }

  /**
   * What the name lacks may be in the row: "delete" is in each of them, "Book 71" in one.
   * @param {TermHit[]} hits
   * @param {boolean} hasRef
   * @param {() => string} rowText
   * @returns {TermHit[]}
   */
  function inRow(hits, hasRef, rowText) {
    const isMeant = (/** @type {TermHit} */ { term, quality, isRole }) =>
      term.roles ? isRole && hasRef : quality > 0;
    // An action in the row is that of another element.
    const lacks = (/** @type {TermHit} */ { term, quality }) =>
      !term.roles && !term.isAction && !quality;
    if (!hits.some(lacks) || !hits.some(isMeant)) return hits;
    const row = parse(rowText());
    return hits.map((own) => {
      const found = lacks(own) ? hit(own.term, row) : own;
      return found === own || !found.quality
        ? own
        : { ...own, quality: found.quality * IN_ROW, by: found.by, place: "row" };
    });
  }

  return { query: (text) => new Query(text) };
});
