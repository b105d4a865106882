/** groups.*: tab groups as agents make and change them. No tab changes its window by it. */

import { CommandError, messageOf } from "../shared/command-errors.js";
import { COLORS, GROUP_TITLE_LENGTH } from "../groups.js";
import { requireOwn } from "../own.js";
import { getTab } from "../shared/known-tabs.js";
import { clip } from "../shared/clip.js";

/** @import { Context } from "./navigation.js" */
/** @typedef {[number, ...number[]]} TabIds */

/** @param {Context<Wire.ListGroups>} context */
export async function listGroups({ input, tellNews }) {
  await tellNews();
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
export async function createGroup({ input, signal, tellNews }) {
  const look = lookOf(input);
  const tabs = await tabsOf(input);
  const windowId = commonWindow(tabs);
  const tabIds = numbersOf(tabs);
  signal.throwIfAborted();
  const groupId = await done(chrome.tabs.group({ tabIds, createProperties: { windowId } }));
  await done(chrome.tabGroups.update(groupId, look));
  await tellNews();
  return describeGroup(groupId);
}

/** @param {Context<Wire.AddToGroup>} context */
export async function addToGroup({ input, signal, tellNews }) {
  const group = await requireOwnGroup(input);
  const tabs = await tabsOf(input);
  commonWindow([...tabs, group]);
  signal.throwIfAborted();
  await done(chrome.tabs.group({ tabIds: numbersOf(tabs), groupId: group.id }));
  await tellNews();
  return describeGroup(group.id);
}

/** @param {Context<Wire.RemoveFromGroup>} context */
export async function removeFromGroup({ input, signal, tellNews }) {
  const tabIds = numbersOf(await tabsOf(input));
  signal.throwIfAborted();
  await done(chrome.tabs.ungroup(tabIds));
  await tellNews();
  return { tabIds };
}

/** @param {Context<Wire.UpdateGroup>} context */
export async function updateGroup({ input, signal, tellNews }) {
  const look = lookOf(input);
  const group = await requireOwnGroup(input);
  signal.throwIfAborted();
  await done(chrome.tabGroups.update(group.id, look));
  await tellNews();
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
