/** Which sites a record is about: the one that made a request, and those that were asked. */

import { siteOf } from "../shared/known-tabs.js";

const FROM_SERVER = /^(?:http|ws)s?:/i;

/**
 * `url`: what was requested, or the script that logged; `page`: the document, or the tab's at the
 * time
 * @typedef {object} Entry
 * @property {string} site of the document
 * @property {string} url
 * @property {string} [redirectedTo]
 * @property {string} [page]
 * @property {string[]} [about] other URLs in it
 */

/**
 * Leaves out what belongs to documents of sites that the caller may not read, or came from there.
 * @template {Entry} T
 * @param {import("../shared/command-context.d.ts").Context} context
 * @param {T[]} entries
 * @returns {Promise<T[]>}
 */
export async function readable({ reach, site }, entries) {
  await reach.learn(new Set(entries.flatMap(sitesIn)), site);
  return entries.filter((entry) => sitesIn(entry).every((one) => reach.allowsSite(one)));
}

/**
 * @param {Entry} entry
 * @returns {string[]}
 */
function sitesIn({ site, url, redirectedTo, page, about = [] }) {
  return [site, ...[url, redirectedTo, page, ...about].flatMap(serversOf)];
}

/**
 * @param {string | undefined} url
 * @returns {string[]}
 */
function serversOf(url) {
  return url && isFromServer(url) ? [siteOf(url.replace(/^ws/i, "http"))] : [];
}

/** @param {string} url */
export function isFromServer(url) {
  return FROM_SERVER.test(url);
}
