/** The methods that the proxy forwards from a client, each made of the commands there are. */

import { CommandError } from "../shared/command-errors.js";
import { getTab, isExtensionPage, requireTab } from "../shared/known-tabs.js";
import { forwardCommand } from "./cdp-commands.js";
import { requireLevel, requireRemoteAddress } from "./fence.js";

/** @typedef {import("./remote-client.js").RemoteClient} RemoteClient */
/** @typedef {import("./fence.js").Level} Level */

/**
 * @typedef {object} Call
 * @property {RemoteClient} client
 * @property {any} params
 * @property {AbortSignal} signal
 * @property {<N extends keyof Wire.Commands>(name: N, input: Wire.Input<N>, tabId?: number) => Promise<Wire.Output<N>>} run
 */

/** @type {Record<string, {needs: Level, run: (call: Call) => Promise<object>}>} */
const METHODS = {
  getTabs: { needs: "look", run: getTabs },
  selectTab: { needs: "look", run: selectTab },
  screenshot: { needs: "look", run: screenshot },
  createTab: { needs: "act", run: createTab },
  activateTab: { needs: "act", run: activateTab },
  closeTab: { needs: "act", run: closeTab },
  browser_navigate: { needs: "act", run: ({ params, ...call }) => navigate(call, params.url) },
  goBack: { needs: "act", run: (call) => navigate(call, "back") },
  goForward: { needs: "act", run: (call) => navigate(call, "forward") },
  click: { needs: "act", run: click },
  hover: { needs: "act", run: hover },
  type: { needs: "act", run: type },
  forwardCDPCommand: { needs: "everything", run: forwardCdp },
};

/**
 * @param {string} method
 * @param {Call} call
 * @returns {Promise<object>}
 */
export async function callMethod(method, call) {
  const found = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!found) throw new CommandError("unknown_command", `There is no method ${method}.`);
  requireLevel(call.client, found.needs, method);
  const result = await found.run(call);
  return { ...result, currentTab: await currentTab(call.client) };
}

/** @param {RemoteClient} client */
async function currentTab({ selected }) {
  if (selected === null) return null;
  try {
    const { url = "", title = "" } = await getTab(selected);
    return isExtensionPage(url) ? null : { id: selected, url, title };
  } catch {
    return null;
  }
}

/**
 * @param {Call} call
 * @returns {Promise<number>}
 */
async function tabOf({ client, params }) {
  const tabId = params?.tabId ?? client.selected;
  if (tabId !== null) return requireTab(tabId);
  const message = "This connection has selected no tab: use createTab or selectTab first.";
  throw new CommandError("no_current_tab", message);
}

/** @param {Call} call */
async function listed({ client, run }) {
  const { tabs } = await run("tabs.list", {});
  const shown = tabs.filter(({ url }) => !isExtensionPage(url));
  return shown.map(({ tabId, title, url, active }, index) => {
    const owner = client.ownerOf(tabId);
    return { id: tabId, index, title, url, active, ...(owner && { owner }) };
  });
}

/** @param {Call} call */
async function getTabs(call) {
  return { tabs: await listed(call) };
}

/** @param {Call} call */
async function selectTab(call) {
  const { client, params, run } = call;
  const tabs = await listed(call);
  const found = tabs.find(({ id, index }) =>
    params.tabId === undefined ? index === params.tabIndex : id === params.tabId,
  );
  if (!found) throw new CommandError("tab_not_found", "There is no such tab.");
  if (params.activate === true) {
    requireLevel(client, "act", "activate");
    await run("tabs.focus", {}, found.id);
  }
  client.selected = found.id;
  return { tabId: found.id, url: found.url, title: found.title };
}

/** @param {Call} call */
async function createTab({ client, params, run }) {
  const { url = "about:blank", activate = true, stealth = false } = params;
  requireRemoteAddress(String(url));
  const input = { url, active: activate !== false };
  const opened = await run("tabs.open", stealth === true ? { ...input, stealth } : input);
  client.opened(opened.tabId);
  return { tabId: opened.tabId, url: opened.url };
}

/** @param {Call} call */
async function activateTab(call) {
  const tabId = await tabOf(call);
  await call.run("tabs.focus", {}, tabId);
  return { tabId };
}

/** @param {Call} call */
async function closeTab(call) {
  const tabId = await tabOf(call);
  await call.run("tabs.close", {}, tabId);
  return { tabId };
}

/**
 * @param {Omit<Call, "params">} call
 * @param {string} url
 */
async function navigate(call, url) {
  const tabId = await tabOf({ ...call, params: {} });
  const { url: shown, title } = await call.run("tabs.navigate", { url }, tabId);
  return { tabId, url: shown, title };
}

/** @param {Call} call */
async function click(call) {
  const tabId = await tabOf(call);
  const { button, clickCount } = call.params;
  const input = { ...targetOf(call.params), ...given({ button, clickCount }) };
  const { effect, trusted } = await call.run("page.click", input, tabId);
  return { tabId, effect, trusted };
}

/** @param {Call} call */
async function hover(call) {
  const tabId = await tabOf(call);
  const { effect, trusted } = await call.run("page.hover", targetOf(call.params), tabId);
  return { tabId, effect, trusted };
}

/** @param {Call} call */
async function type(call) {
  const tabId = await tabOf(call);
  const { text, ref, selector, submit } = call.params;
  const field = given({ ref, selector });
  const isNamed = ref !== undefined || selector !== undefined;
  const typed = isNamed
    ? await call.run("page.fill", { ...field, text }, tabId)
    : await call.run("page.type", { text }, tabId);
  const { effect, trusted } = typed;
  if (submit !== true) return { tabId, effect, trusted };
  const pressed = await call.run("page.press", { ...field, key: "Enter" }, tabId);
  return { tabId, effect: { ...effect, ...pressed.effect }, trusted: trusted && pressed.trusted };
}

/** @param {Call} call */
async function screenshot(call) {
  const tabId = await tabOf(call);
  const { format, quality, fullPage } = call.params;
  const input = given({ format, quality, fullPage });
  const { data, mimeType, width, height } = await call.run("page.capture", input, tabId);
  return { data, mimeType, width, height };
}

/** @param {Call} call */
async function forwardCdp(call) {
  const tabId = await tabOf({ ...call, params: {} });
  const { method, params, sessionId } = call.params;
  const { client, signal } = call;
  signal.throwIfAborted();
  client.held.add(tabId);
  return forwardCommand(tabId, client.holder, { method, params, sessionId }, signal);
}

/** @param {any} params */
function targetOf({ ref, selector, x, y }) {
  return given({ ref, selector, x, y });
}

/**
 * @template {object} T
 * @param {T} members
 * @returns {Partial<T>} without those that were not given
 */
function given(members) {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return /** @type {Partial<T>} */ (Object.fromEntries(entries));
}
