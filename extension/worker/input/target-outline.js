/**
 * page.outline: outlines for the person what they are asked about. Agents never see it: it is gone
 * while any other command runs in the tab.
 */

import { frameOfRef } from "../frames/frames.js";
import { register } from "../shared/tab-state.js";

/** @typedef {import("../frames/frames.js").Frame} Frame */
/** @import { Context } from "../shared/command-context.d.ts" */

/** A page that does not answer must not hold up the command that waits for it. */
const ERASE_MS = 1000;

/** @typedef {{refs: string[], until: number, frames: Set<Frame>}} Outline */

/** @type {Map<number, Outline>} the outline of each tab */
const outlines = new Map();
/** @type {Map<number, Promise<unknown>>} by tab, until no page has an outline that was erased */
const erasing = new Map();
/** @type {Map<number, number>} how many other commands run in a tab */
const running = new Map();

register({ name: "outlines", forget: (tabId) => void outlines.delete(tabId) });

/**
 * @param {Context<Wire.OutlineTargets>} context
 * @returns {Promise<Wire.NoOutput>}
 */
export async function outlineTargets({ tabId, input: { refs, milliseconds } }) {
  const before = outlines.get(tabId);
  // At once: another order may come while the page is asked.
  if (refs.length) outlines.set(tabId, newOutline(refs, milliseconds));
  else outlines.delete(tabId);
  await erase(tabId, before);
  if (!running.get(tabId)) await draw(tabId);
  return {};
}

/**
 * @param {string[]} refs
 * @param {number} milliseconds
 * @returns {Outline}
 */
const newOutline = (refs, milliseconds) => ({
  refs,
  until: Date.now() + milliseconds,
  frames: new Set(),
});

/** The person no longer looks: in no panel, or at no server. */
export function eraseOutlines() {
  for (const [tabId, outline] of outlines) void erase(tabId, outline);
  outlines.clear();
}

/**
 * Runs a command in a tab without an outline.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function whileUnlined(tabId, work) {
  running.set(tabId, (running.get(tabId) ?? 0) + 1);
  try {
    if (outlines.has(tabId) || erasing.has(tabId)) await erase(tabId, outlines.get(tabId));
    return await work();
  } finally {
    const left = (running.get(tabId) ?? 1) - 1;
    if (left) running.set(tabId, left);
    else running.delete(tabId);
    if (!left && outlines.has(tabId)) void draw(tabId);
  }
}

/** @param {number} tabId */
async function draw(tabId) {
  const outline = outlines.get(tabId);
  if (!outline) return;
  const milliseconds = outline.until - Date.now();
  if (milliseconds <= 0) return void outlines.delete(tabId);
  await Promise.allSettled(
    outline.refs.map(async (ref) => {
      const { frame, number } = await frameOfRef(tabId, ref);
      if (running.get(tabId) || outlines.get(tabId) !== outline) return;
      outline.frames.add(frame);
      await frame.ask("outline", { ref: number, milliseconds }, ERASE_MS);
    }),
  );
}

/**
 * @param {number} tabId
 * @param {Outline} [outline]
 */
async function erase(tabId, outline) {
  const frames = [...(outline?.frames ?? [])];
  outline?.frames.clear();
  const unlined = frames.map((frame) => frame.ask("unline", {}, ERASE_MS));
  // Another may have begun before, and what waits for this one must wait for that too.
  const all = Promise.allSettled([erasing.get(tabId), ...unlined]);
  erasing.set(tabId, all);
  await all;
  if (erasing.get(tabId) === all) erasing.delete(tabId);
}
