/**
 * How well an element fits a description in words. What is found must be there: most of the words
 * have to be in its name or attributes, as they are, in other words, or slightly misspelt.
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
   * A word or a phrase that is looked for.
   * @typedef {object} Term
   * @property {string} text
   * @property {number | undefined} concept
   * @property {Set<string> | undefined} roles that are called so
   * @property {number} weight
   * @property {Map<string, number>} known how words of the page are like it
   */
  /** @typedef {{words: string[], concepts: Map<number, string>, text: string}} Said */
  /** @typedef {{quality: number, by: string}} Hit */

  /** @param {string} text */
  function wordsIn(text) {
    return text.normalize("NFKD").replace(MARKS, "").toLowerCase().match(WORD) ?? [];
  }

  /** @param {string} text */
  function said(text) {
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
   * @param {Said} there
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
    const telling = terms.filter(({ text }) => !empty.has(text));
    return telling.length ? telling : terms;
  }

  /** @param {string} text */
  function term(text) {
    const weight = soft.has(text) ? SOFT_WEIGHT : 1;
    return { text, concept: concepts.get(text), roles: roles.get(text), weight, known: new Map() };
  }

  /**
   * @param {Term} term
   * @param {Said} name
   * @param {Said} attributes
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
  function told({ term, quality, by, isWeak, isRole }) {
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
      const there = said(name);
      const attributes = said(rest);
      const hits = this.#terms.map((term) => {
        const isRole = Boolean(term.roles?.has(role));
        return { term, isRole, ...bestHit(term, there, attributes) };
      });
      const coverage = this.#coverage(hits);
      if (coverage < NEEDED) return null;
      const extras = this.#extras(hits, there) + (hasRef ? 0.15 : 0);
      return { score: coverage + extras, reason: hits.map(told).join(", ") };
    }

    /**
     * Role words need not be in the name, and alone they ask for the role.
     * @param {{term: Term, quality: number, isRole: boolean}[]} hits
     */
    #coverage(hits) {
      const content = hits.filter(({ term }) => !term.roles);
      if (content.length) return covered(content);
      return covered(hits.map((hit) => (hit.isRole ? { ...hit, quality: 1 } : hit)));
    }

    /**
     * @param {{term: Term, quality: number, isRole: boolean}[]} hits
     * @param {Said} there
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
