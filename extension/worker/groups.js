/** Tab groups: which tabs belong together, as the person sees it. Nothing here moves the focus. */

import { CommandError } from "./shared/command-errors.js";
import { letGo } from "./letgo.js";
import { getTab } from "./shared/known-tabs.js";
import { clip } from "./shared/clip.js";

/** Chrome's own words. */
export const COLORS = [
  "grey",
  "blue",
  "red",
  "yellow",
  "green",
  "pink",
  "purple",
  "cyan",
  "orange",
];
export const GROUP_TITLE_LENGTH = 100;

/** @type {Map<string, Promise<number | undefined>>} the group last joined under a name */
const made = new Map();

/** @typedef {Wire.AgentGroup} Group */
/** @import { Context } from "./tabs/navigation.js" */

/**
 * @param {Wire.AgentGroup | null} wanted
 * @returns {Group}
 */
export function groupOf(wanted) {
  const { title, color, groupId } = /** @type {Partial<Group>} */ (wanted ?? {});
  if (typeof title !== "string" || color === undefined || !COLORS.includes(color)) {
    const message = `A group needs a title, and a color out of ${COLORS.join(", ")}.`;
    throw new CommandError("invalid_arguments", message);
  }
  return {
    title: clip(title, GROUP_TITLE_LENGTH),
    color,
    ...(Number.isInteger(groupId) && { groupId }),
  };
}

/** @param {Context<Wire.GroupTab>} context */
export async function groupTab({ tabId, input, tellNews }) {
  const groupId = await joinGroup(await getTab(tabId), groupOf(input.group));
  await tellNews();
  return groupId === undefined ? {} : { groupId };
}

/**
 * The tab is no agent's any more.
 * @param {Context} context
 */
export async function ungroupTab({ tabId, tellNews }) {
  // What the person sees does not wait for the page.
  await chrome.tabs.ungroup(tabId).catch(() => {});
  await letGo(tabId);
  await tellNews();
  return {};
}

/**
 * @param {chrome.tabs.Tab} tab
 * @param {Group} group
 * @returns {Promise<number | undefined>} undefined where tabs cannot be grouped: a tab does
 *   without, as in windows that have no tab strip
 */
export async function joinGroup(tab, group) {
  const key = JSON.stringify([group.title, group.color, tab.windowId]);
  const before = made.get(key);
  const joined = (async () => join(tab, { ...group, groupId: group.groupId ?? (await before) }))();
  // Two tabs that open at once belong in one group, though neither was told of it.
  made.set(key, joined);
  return joined;
}

/**
 * @param {chrome.tabs.Tab} tab
 * @param {Group} group
 */
async function join(tab, group) {
  const tabIds = /** @type {number} */ (tab.id);
  try {
    const groupId = await existing(group, tab.windowId);
    if (groupId !== undefined) return await chrome.tabs.group({ tabIds, groupId });
    return await makeGroup(tab, group);
  } catch {
    return undefined;
  }
}

/**
 * @param {Group} group
 * @param {number} windowId a tab that joined a group elsewhere would change its window
 */
async function existing({ groupId }, windowId) {
  if (groupId === undefined) return undefined;
  const group = await chrome.tabGroups.get(groupId).catch(() => null);
  return group?.windowId === windowId ? groupId : undefined;
}

/**
 * @param {chrome.tabs.Tab} tab
 * @param {Group} group
 */
async function makeGroup({ id, windowId }, { title, color }) {
  const tabIds = /** @type {number} */ (id);
  const groupId = await chrome.tabs.group({ tabIds, createProperties: { windowId } });
  await chrome.tabGroups.update(groupId, { title, color });
  return groupId;
}
