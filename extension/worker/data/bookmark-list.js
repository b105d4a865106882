/** bookmarks.*: the person's bookmarks, as a tree. */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { clip, TITLE_LENGTH, URL_LENGTH } from "../shared/clip.js";

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {chrome.bookmarks.BookmarkTreeNode} Node */

/** @param {Context<Wire.SearchBookmarks>} context */
export async function searchBookmarks({ input }) {
  const found = await chrome.bookmarks.search({ query: input.query });
  return { bookmarks: found.map(describe) };
}

/** @param {Context<Wire.CreateBookmark>} context */
export async function createBookmark({ input, signal }) {
  const { title, url, parentId } = input;
  if (parentId !== undefined) await requireFolder(parentId);
  signal.throwIfAborted();
  const wanted = { title, url, ...(parentId !== undefined && { parentId }) };
  const node = await chrome.bookmarks.create(wanted).catch((error) => {
    throw new CommandError("invalid_arguments", `No bookmark was made: ${messageOf(error)}`);
  });
  return describe(node);
}

/** @param {Context<Wire.ListBookmarks>} context */
export async function listBookmarks({ input }) {
  const { parentId, maxDepth } = input;
  const nodes = parentId === undefined ? await all() : [await requireFolder(parentId)];
  return { tree: nodes.map((node) => branch(node, maxDepth)) };
}

/** The root has neither a name nor a use. */
async function all() {
  const [root] = await chrome.bookmarks.getTree();
  return root?.children ?? [];
}

/** @param {string} id */
async function requireFolder(id) {
  const [node] = await chrome.bookmarks.getSubTree(id).catch(() => []);
  if (node && !node.url) return node;
  const why = node ? "is not a folder" : "does not exist";
  throw new CommandError("not_found", `The bookmark folder ${id} ${why}.`);
}

/**
 * @param {Node} node
 * @param {number} depth
 * @returns {Wire.BookmarkNode}
 */
function branch(node, depth) {
  if (!node.children) return describe(node);
  const { children } = node;
  if (depth <= 0) return { ...describe(node), childCount: children.length };
  return { ...describe(node), children: children.map((child) => branch(child, depth - 1)) };
}

/**
 * @param {Node} node
 * @returns {Wire.Bookmark}
 */
function describe({ id, parentId, title, url, dateAdded }) {
  return {
    id,
    title: clip(title, TITLE_LENGTH),
    ...(parentId !== undefined && { parentId }),
    ...(url !== undefined && { url: clip(url, URL_LENGTH) }),
    ...(dateAdded !== undefined && { dateAdded }),
  };
}
