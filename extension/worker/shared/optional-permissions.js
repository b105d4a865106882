/** Written by `make docs` from `scripts/extension_permissions.py`. */

/** What an optional permission is for: "An agent wants to …". */
export const OPTIONAL = new Map([
  ["bookmarks", "use your bookmarks"],
  ["browsingData", "clear the stored data of a site"],
  ["downloads", "download files"],
  ["history", "search your history"],
  ["sessions", "list or restore closed tabs"],
]);

/** The optional permission that a command needs. */
export const NEEDS = new Map([
  ["bookmarks.search", "bookmarks"],
  ["bookmarks.create", "bookmarks"],
  ["bookmarks.tree", "bookmarks"],
  ["site.clear", "browsingData"],
  ["downloads.start", "downloads"],
  ["downloads.list", "downloads"],
  ["downloads.status", "downloads"],
  ["downloads.save", "downloads"],
  ["history.search", "history"],
  ["history.visits", "history"],
  ["sessions.recent", "sessions"],
  ["sessions.restore", "sessions"],
]);
