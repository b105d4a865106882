/**
 * Hands elements over to the content script of their frame. The debugger knows them by numbers, and
 * each takes time.
 */

import { sendTo } from "../debugger/debugger.js";

/** What the debugger holds for this. */
export const GROUP = "tabhub-listeners";
const MOST_NODES = 500;
/** So many elements are handed over before a page is read, the others meanwhile: each takes time. */
const FIRST_NODES = 64;
/** From so many alike on, one is handed over for all; in so many groups. */
const LEAST_ALIKE = 4;
const MOST_SAMPLES = 32;
/** The content scripts have the same. */
const PARTIAL = "partial";
/**
 * An event's ranges may start anywhere but in a shadow root; its submitter may be there too. The
 * kinds are the event's data, or the end of its name; its type says whether more will follow. The
 * content script, if it listens, prevents the default of what it takes. The first `samples` elements
 * stand for others, and have an event each, which it does not take if it cannot tell which are
 * meant. The places of what was taken, and of those samples, are returned.
 */
const HAND_OVER = `function (word, kinds, samples, type, ...elements) {
  const isOutside = (element) => element.getRootNode() === document;
  // An element of another frame that a script of this one gets first is no instance of the classes
  // there.
  const all = elements.map((element, i) => ({ element, kind: kinds[i], i }))
    .filter(({ element }) => element.ownerDocument === document);
  const rangeOf = ({ element }) => new StaticRange(
    { startContainer: element, startOffset: 0, endContainer: element, endOffset: 0 });
  const show = (shown, inputType) => !document.dispatchEvent(new InputEvent(word, {
    targetRanges: shown.map(rangeOf), data: shown.map(({ kind }) => kind).join(), inputType,
    cancelable: true }));
  const refused = all.filter((one) => one.i < samples)
    .filter((one) => !isOutside(one.element) || !show([one], "${PARTIAL}"));
  const ones = all.filter(({ i }) => i >= samples);
  const isTaken = show(ones.filter(({ element }) => isOutside(element)), type);
  for (const { element, kind } of ones) {
    if (isOutside(element) || !(element instanceof HTMLElement)) continue;
    document.dispatchEvent(new SubmitEvent(word + kind, { submitter: element }));
  }
  if (!isTaken) throw new Error("Nothing of ours listens here.");
  return { taken: all.map(({ i }) => i), refused: refused.map(({ i }) => i) };
}`;

/**
 * @typedef {object} Place
 * @property {number} tabId
 * @property {string | undefined} session
 * @property {string} word the name of the event in which the elements are handed over
 * @property {Set<number>} nodes those that the content scripts know
 */

/**
 * @typedef {object} Heard a node that listens
 * @property {number} id
 * @property {number} kind
 * @property {Heard[]} alike those with the same listeners from the same place in a script
 */

/**
 * Of elements that are alike, only one is handed over, if the others can be told by it.
 * @param {Place} place
 * @param {number} contextId
 * @param {Heard[]} fresh
 * @returns {Promise<Heard[]>} those that are left
 */
export async function handOverFirst(place, contextId, fresh) {
  const all = new Set(fresh);
  const groups = new Set(fresh.map(({ alike }) => alike));
  const large = [...groups].filter(({ length }) => length >= LEAST_ALIKE);
  large.splice(MOST_SAMPLES);
  const isFresh = (/** @type {Heard} */ one) => all.has(one);
  const samples = large.flatMap((alike) => alike.find(isFresh) ?? []);
  const sampled = new Set(large);
  const ones = fresh.filter(({ alike }) => !sampled.has(alike)).slice(0, MOST_NODES);
  const later = ones.splice(FIRST_NODES);
  const type = later.length ? PARTIAL : "";
  const refused = await handOver(place, contextId, [...samples, ...ones], samples.length, type);
  const isTold = (/** @type {Heard} */ one) => place.nodes.has(one.id) && !refused.includes(one);
  for (const { alike } of samples.filter(isTold)) {
    for (const { id } of alike) place.nodes.add(id);
  }
  later.unshift(...refused.flatMap(({ alike }) => alike.filter(isFresh)));
  const next = later.splice(0, refused.length ? FIRST_NODES : 0);
  if (next.length) await handOver(place, contextId, next, 0, later.length ? PARTIAL : "");
  return later.slice(0, MOST_NODES);
}

/**
 * @param {Place} place
 * @param {number} contextId
 * @param {Heard[]} heard
 * @param {number} [samples] how many of them, at the beginning, stand for all that are alike
 * @param {string} [type] PARTIAL: more will follow
 * @returns {Promise<Heard[]>} samples by which the others cannot be told
 */
export async function handOver(
  { tabId, session, word, nodes },
  contextId,
  heard,
  samples = 0,
  type = "",
) {
  const objects = await Promise.all(
    heard.map(({ id }) => resolve(tabId, session, contextId, id).catch(() => undefined)),
  );
  const lost = heard.filter((_, i) => i < samples && !objects[i]);
  const found = heard.flatMap((one, i) => (objects[i] ? [{ one, objectId: objects[i] }] : []));
  const shown = samples - lost.length;
  const kinds = found.map(({ one }, i) =>
    i < shown ? `${one.kind}*${one.alike.length}` : one.kind,
  );
  const { result, exceptionDetails } = await sendTo(tabId, session, "Runtime.callFunctionOn", {
    executionContextId: contextId,
    functionDeclaration: HAND_OVER,
    arguments: [
      ...[word, kinds, shown, type].map((value) => ({ value })),
      ...found.map(({ objectId }) => ({ objectId })),
    ],
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
  // A node may be another frame's.
  for (const i of result.value.taken) nodes.add(found[i].one.id);
  return [...lost, ...result.value.refused.map((/** @type {number} */ i) => found[i].one)];
}

/**
 * @param {number} tabId
 * @param {string | undefined} session
 * @param {number} executionContextId
 * @param {number} backendNodeId
 * @returns {Promise<string | undefined>} undefined for a node of another frame
 */
async function resolve(tabId, session, executionContextId, backendNodeId) {
  const params = { backendNodeId, executionContextId, objectGroup: GROUP };
  const answer = await sendTo(tabId, session, "DOM.resolveNode", params).catch(() => null);
  return answer?.object.objectId;
}
