/** What kinds of files a file input says it takes. */
tabhub.define("accept", () => {
  /**
   * @param {string} kind an ending, a type, or a family of types
   * @param {TabhubFileName} file
   */
  function fits(kind, { name, mimeType }) {
    if (kind.startsWith(".")) return name.toLowerCase().endsWith(kind);
    if (kind.endsWith("/*")) return mimeType.startsWith(kind.slice(0, -1));
    return mimeType === kind;
  }

  return {
    misfits(accept, files) {
      const kinds = accept
        .toLowerCase()
        .split(",")
        .map((kind) => kind.trim());
      const told = kinds.filter((kind) => kind && kind !== "*/*");
      if (told.length < kinds.length || !told.length) return [];
      return files.filter((file) => !told.some((kind) => fits(kind, file)));
    },
  };
});
