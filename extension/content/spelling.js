/** How alike two words are: the same, another form, a part, or slightly misspelt. */
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
    // Scripts without blanks between words have short ones inside long ones.
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
   * How many letters are wrong, missing, too many, or swapped with their neighbour.
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
