/** groups.*: creating and changing tab groups. No tab changes its window by this. */

import { clip } from "../shared/clip.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { getTab } from "../shared/known-tabs.js";
import { releaseTab } from "../shared/tab-state.js";
import { requireOwn } from "./browser-windows.js";

// The groups that tabhub makes for the tabs of an agent. Nothing here moves the focus.

/** Chrome's names. */
const COLORS = ["grey", "blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];
const GROUP_TITLE_LENGTH = 100;

/** @type {Map<string, Promise<number | undefined>>} the group last joined under a name */
const made = new Map();

/** @typedef {Wire.AgentGroup} Group */
/** @import { Context } from "../shared/command-context.d.ts" */

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
export async function groupTab({ tabId, input, reportTabChanges }) {
  const groupId = await joinGroup(await getTab(tabId), groupOf(input.group));
  await reportTabChanges();
  return groupId === undefined ? {} : { groupId };
}

/**
 * The tab no longer belongs to an agent.
 * @param {Context} context
 */
export async function ungroupTab({ tabId, reportTabChanges }) {
  // The tab strip does not wait for the page.
  await chrome.tabs.ungroup(tabId).catch(() => {});
  await releaseTab({ tabId });
  await reportTabChanges();
  return {};
}

/**
 * @param {chrome.tabs.Tab} tab
 * @param {Group} group
 * @returns {Promise<number | undefined>} undefined where tabs cannot be grouped, as in windows
 *   without a tab strip
 */
export async function joinGroup(tab, group) {
  const key = JSON.stringify([group.title, group.color, tab.windowId]);
  const before = made.get(key);
  const joined = (async () => join(tab, { ...group, groupId: group.groupId ?? (await before) }))();
  // Two tabs that open at the same time belong in one group.
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

/** @typedef {[number, ...number[]]} TabIds */

/** @param {Context<Wire.ListGroups>} context */
export async function listGroups({ input, reportTabChanges }) {
  await reportTabChanges();
  const { windowId } = input;
  const groups = await chrome.tabGroups.query(windowId === undefined ? {} : { windowId });
  return { groups: await Promise.all(groups.map(({ id }) => describeGroup(id))) };
}

/**
 * @param {number} groupId
 * @returns {Promise<Wire.TabGroup>}
 */
async function describeGroup(groupId) {
  const group = await getGroup(groupId);
  const tabs = await chrome.tabs.query({ groupId: group.id });
  const { id, title = "", color, collapsed, windowId } = group;
  const tabIds = numbersOf(tabs);
  return {
    groupId: id,
    title: clip(title, GROUP_TITLE_LENGTH),
    color,
    collapsed,
    windowId,
    tabIds,
  };
}

/** @param {number} groupId */
async function getGroup(groupId) {
  try {
    return await chrome.tabGroups.get(groupId);
  } catch {
    throw new CommandError("not_found", `There is no tab group ${groupId}.`);
  }
}

/** @param {Context<Wire.CreateGroup>} context */
export async function createGroup({ input, signal, reportTabChanges }) {
  const look = lookOf(input);
  const tabs = await tabsOf(input);
  const windowId = commonWindow(tabs);
  const tabIds = numbersOf(tabs);
  signal.throwIfAborted();
  const groupId = await done(chrome.tabs.group({ tabIds, createProperties: { windowId } }));
  await done(chrome.tabGroups.update(groupId, look));
  await reportTabChanges();
  return describeGroup(groupId);
}

/** @param {Context<Wire.AddToGroup>} context */
export async function addToGroup({ input, signal, reportTabChanges }) {
  const group = await requireOwnGroup(input);
  const tabs = await tabsOf(input);
  commonWindow([...tabs, group]);
  signal.throwIfAborted();
  await done(chrome.tabs.group({ tabIds: numbersOf(tabs), groupId: group.id }));
  await reportTabChanges();
  return describeGroup(group.id);
}

/** @param {Context<Wire.RemoveFromGroup>} context */
export async function removeFromGroup({ input, signal, reportTabChanges }) {
  const tabIds = numbersOf(await tabsOf(input));
  signal.throwIfAborted();
  await done(chrome.tabs.ungroup(tabIds));
  await reportTabChanges();
  return { tabIds };
}

/** @param {Context<Wire.UpdateGroup>} context */
export async function updateGroup({ input, signal, reportTabChanges }) {
  const look = lookOf(input);
  const group = await requireOwnGroup(input);
  signal.throwIfAborted();
  await done(chrome.tabGroups.update(group.id, look));
  await reportTabChanges();
  return describeGroup(group.id);
}

/** @param {{groupId: number, own: number[]}} input */
async function requireOwnGroup({ groupId, own }) {
  const group = await getGroup(groupId);
  requireOwn(await chrome.tabs.query({ groupId: group.id }), own, `Tab group ${groupId}`);
  return group;
}

/** @param {{tabIds: number[], own: number[]}} input */
async function tabsOf({ tabIds, own }) {
  const tabs = await Promise.all(tabIds.map(getTab));
  requireOwn(tabs, own, "The list");
  return tabs;
}

/** @param {chrome.tabs.Tab[]} tabs */
function numbersOf(tabs) {
  return /** @type {TabIds} */ (tabs.map((tab) => tab.id));
}

/** @param {{windowId: number}[]} places */
function commonWindow(places) {
  const [first, ...others] = new Set(places.map(({ windowId }) => windowId));
  if (!others.length) return first;
  throw new CommandError("invalid_arguments", "A tab group lies in one window, and these do not.");
}

/** @param {Partial<Wire.UpdateGroup>} input */
function lookOf({ title, color, collapsed }) {
  if (color !== undefined && !COLORS.includes(color)) {
    throw new CommandError("invalid_arguments", `color must be one of ${COLORS.join(", ")}.`);
  }
  return {
    ...(title !== undefined && { title: clip(String(title), GROUP_TITLE_LENGTH) }),
    ...(color !== undefined && { color }),
    ...(collapsed !== undefined && { collapsed: Boolean(collapsed) }),
  };
}

/**
 * @template T
 * @param {Promise<T>} work
 */
async function done(work) {
  try {
    return await work;
  } catch (error) {
    throw new CommandError("invalid_arguments", `It cannot be grouped so: ${messageOf(error)}`);
  }
}
