/** The files of a page, in all its frames, and their contents. */

import { childrenOf, dropChildren, useChildren } from "../debugger/child-sessions.js";
import { sendTo, withTab } from "../debugger/debugger.js";
import { unlessDialog } from "../debugger/page-dialogs.js";
import { isFromServer, readable } from "../frames/frame-origins.js";
import { URL_LENGTH, clip } from "../shared/clip.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { siteOfDocument } from "../shared/known-tabs.js";
import { recordingOf } from "./recorder.js";
import { bodiesOf } from "./response-bodies.js";

// Where the files of a page came from. The page names each by the URL it requested; that another
// one answered, after a redirect, is known only from a recording.

/** @typedef {import("./network-log.js").Request} Request */

export class Redirects {
  /** @type {Map<string, Request[]>} every step of a request, by its first URL */
  #steps = new Map();

  /** @param {number} tabId */
  constructor(tabId) {
    const network = recordingOf(tabId)?.network;
    for (const entry of network?.entries ?? []) {
      const all = network?.courseOf(entry)?.steps ?? [];
      const key = keyOf(entry.url);
      this.#steps.set(key, [...this.#from(key), ...all.slice(all.indexOf(entry))]);
    }
  }

  /** @param {string} key */
  #from(key) {
    return this.#steps.get(key) ?? [];
  }

  /**
   * @param {string} url
   * @returns {string[]} all URLs involved in it
   */
  of(url) {
    return this.#from(keyOf(url)).flatMap((step) => [step.url, step.redirectedTo ?? ""]);
  }

  /**
   * Whether it was recorded to its end.
   * @param {string} url
   */
  isKnown(url) {
    const last = this.#from(keyOf(url)).at(-1);
    return Boolean(last) && !last?.redirectedTo;
  }
}

/** @param {string} url */
function keyOf(url) {
  return clip(url.split("#")[0], URL_LENGTH);
}

const MOST_CHARS = 500_000;
const MOST_BODY = 10_000_000;
const MOST_RESOURCES = 5000;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @typedef {{session: string | undefined, frameId: string, resource: any}} Found */

/** @param {Context<Wire.ListResources>} context */
export async function listResources(context) {
  const type = context.input.type?.toLowerCase();
  const found = (await resourcesOf(context)).map(({ resource }) => describe(resource));
  const wanted = found.filter((resource) => !type || resource.type === type);
  return { resources: wanted.slice(0, MOST_RESOURCES), total: wanted.length };
}

/** @param {Context<Wire.ReadResource>} context */
export async function resourceContent(context) {
  const { url, maxChars = MOST_CHARS } = context.input;
  const found = (await resourcesOf(context)).find(({ resource }) => resource.url === url);
  if (!found) {
    const message = `${url} is not among the page's files: browser_list_resources lists them.`;
    throw new CommandError("not_found", clip(message, URL_LENGTH));
  }
  requireKnownRedirects(context, found);
  const { content, base64Encoded } = await contentOf(context, found);
  // A piece of base64 must end with a whole group of four.
  const end = base64Encoded ? maxChars - (maxChars % 4) : maxChars;
  const { length } = content;
  const shown = { content: content.slice(0, end), base64: base64Encoded, length };
  return { ...describe(found.resource), ...shown, truncated: length > end };
}

/**
 * Where permissions depend on the site, a file is withheld if another site may have answered.
 * @param {Context} context
 * @param {Found} found
 */
function requireKnownRedirects({ tabId, reach }, { resource: { url, type } }) {
  if (reach.isEverywhere || type === "Document" || !isFromServer(url)) return;
  if (new Redirects(tabId).isKnown(url)) return;
  const message = `Which site has answered ${url} was not recorded: load the page again first.`;
  throw new CommandError("not_found", clip(message, URL_LENGTH));
}

/**
 * @param {Context} context
 * @param {Found} found
 */
async function contentOf(context, { session, frameId, resource: { url } }) {
  const { tabId, signal } = context;
  try {
    return await withTab(tabId, () =>
      unlessDialog(tabId, signal, () =>
        sendTo(tabId, session, "Page.getResourceContent", { frameId, url }),
      ),
    );
  } catch (error) {
    if (error instanceof CommandError) throw error;
    return asRecorded(context, url, error);
  }
}

/**
 * @param {Context} context
 * @param {string} url
 * @param {unknown} error why the page does not have it
 */
async function asRecorded(context, url, error) {
  const recording = recordingOf(context.tabId);
  const same = recording?.network.entries.filter((entry) => entry.url === url) ?? [];
  const request = (await readable(context, same)).at(-1);
  const [{ body = undefined } = {}] =
    recording && request ? await bodiesOf(recording, [request], MOST_BODY) : [];
  if (body?.text !== undefined) return { content: body.text, base64Encoded: body.base64 };
  throw new CommandError("not_found", `The browser has not kept ${url}: ${messageOf(error)}`);
}

/**
 * @param {Context} context
 * @returns {Promise<Found[]>}
 */
async function resourcesOf(context) {
  const { tabId, signal } = context;
  const user = {};
  const trees = await withTab(tabId, () =>
    unlessDialog(tabId, signal, async () => {
      await useChildren(tabId, user);
      return treesOf(tabId);
    }).finally(() => dropChildren(tabId, user)),
  );
  const all = trees.flatMap(({ session, tree }) => walk(session, tree));
  const redirects = new Redirects(tabId);
  return readable(
    context,
    all.map((found) => ({ ...found, about: redirects.of(found.url) })),
  );
}

/** @param {number} tabId */
async function treesOf(tabId) {
  const frames = childrenOf(tabId).filter(({ type }) => type === "iframe");
  const sessions = [undefined, ...frames.map(({ session }) => session)];
  const answers = sessions.map(async (session) => {
    if (session !== undefined) await sendTo(tabId, session, "Page.enable");
    const { frameTree: tree } = await sendTo(tabId, session, "Page.getResourceTree");
    return { session, tree };
  });
  const settled = await Promise.allSettled(answers);
  if (settled[0].status === "rejected") throw settled[0].reason;
  // A frame may go away meanwhile.
  return settled.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
}

/**
 * @param {string | undefined} session
 * @param {any} tree
 * @returns {(Found & {site: string, url: string})[]}
 */
function walk(session, { frame, resources = [], childFrames = [] }) {
  const { id: frameId, url, mimeType, securityOrigin } = frame;
  const origin = /^[a-z]+:\/\/.+/.test(securityOrigin) ? securityOrigin : "null";
  const site = siteOfDocument(origin, url);
  const own = { url, mimeType, type: "Document" };
  const all = url.startsWith("about:") ? resources : [own, ...resources];
  return [
    ...all.map((/** @type {any} */ resource) => {
      return { session, frameId, resource, site, url: resource.url };
    }),
    ...childFrames.flatMap((/** @type {any} */ child) => walk(session, child)),
  ];
}

/** @param {any} resource */
function describe({ url, type, mimeType, contentSize, failed, canceled }) {
  return {
    url: clip(url, URL_LENGTH),
    type: String(type).toLowerCase(),
    mimeType,
    ...(contentSize !== undefined && { size: contentSize }),
    ...((failed || canceled) && { failed: true }),
  };
}
