/**
 * The service through which agents elsewhere reach this browser: its addresses, this browser's token
 * for it, and the clients that the person has allowed. The token is a password.
 */

/** @typedef {"look" | "act" | "everything"} Level */
/** @typedef {{urls: string[], token: string}} Service */

/**
 * @typedef {object} RemoteSettings
 * @property {Service | null} service
 * @property {boolean} isEnded whether the person has ended remote access
 * @property {boolean} isStopped whether they did so with the brake, so that Resume undoes it
 * @property {string} refusedToken the token that the service has refused
 * @property {Record<string, Level>} clients the level of each client, by its name
 */

/**
 * @typedef {object} RemoteState what the person sees
 * @property {"none" | "ended" | "stopped" | "refused" | "connecting" | "open" | "closed"} state
 * @property {string} hosts of the service
 * @property {boolean} isManaged every client may do everything
 * @property {{name: string, level: Level | null, connections: number}[]} clients
 */

export const LEVELS = /** @type {const} */ (["look", "act", "everything"]);

/**
 * @param {Level | null | undefined} a
 * @param {Level | null | undefined} b
 */
export function isLower(a, b) {
  const rank = (/** @type {Level | null | undefined} */ level) =>
    level ? LEVELS.indexOf(level) : -1;
  return rank(a) < rank(b);
}

const SERVICE = "remoteService";
const ENDED = "remoteEnded";
const REFUSED = "remoteRefused";
const CLIENTS = "remoteClients";
/** Stands in the place of `true` where the brake has ended it. */
const STOPPED = "stopped";
/** A change of any of these is a change of the settings. */
export const STORED = [SERVICE, ENDED, REFUSED, CLIENTS];

/** @returns {Promise<RemoteSettings>} */
export async function readRemote() {
  const stored = /** @type {any} */ (await chrome.storage.local.get(STORED));
  return {
    service: serviceOf(stored[SERVICE]),
    isEnded: stored[ENDED] === true || stored[ENDED] === STOPPED,
    isStopped: stored[ENDED] === STOPPED,
    refusedToken: typeof stored[REFUSED] === "string" ? stored[REFUSED] : "",
    clients: clientsOf(stored[CLIENTS]),
  };
}

/**
 * Whoever runs a service decides what its clients are called, so those that were allowed at one are
 * not the clients of the same names at another.
 * @param {Service} service that the person has confirmed
 */
export async function saveService(service) {
  const { service: before, clients } = await readRemote();
  const kept = before && isWithin(service, before) ? clients : {};
  const changed = { [SERVICE]: service, [ENDED]: false, [REFUSED]: "", [CLIENTS]: kept };
  await chrome.storage.local.set(changed);
}

/**
 * @param {Service} service
 * @param {Service} before
 * @returns {boolean} whether it has no host and no user that the other has not
 */
export function isWithin(service, before) {
  const hostsOf = (/** @type {Service} */ { urls }) => urls.map((url) => socketAddress(url)?.host);
  const known = hostsOf(before);
  const isSameUser = claimsOf(service.token)?.user === claimsOf(before.token)?.user;
  return isSameUser && hostsOf(service).every((host) => known.includes(host));
}

export async function forgetService() {
  await chrome.storage.local.remove(STORED);
}

/** @param {boolean} isEnded */
export async function saveEnded(isEnded) {
  await chrome.storage.local.set({ [ENDED]: isEnded });
}

/**
 * The brake, or its end. What the person has ended otherwise stays ended.
 * @param {boolean} isStopped
 */
export async function saveStopped(isStopped) {
  const now = await readRemote();
  const isFree = isStopped ? now.service && !now.isEnded : now.isStopped;
  if (isFree) await chrome.storage.local.set({ [ENDED]: isStopped && STOPPED });
}

/**
 * @param {RemoteState | null} remote
 * @returns {boolean} whether agents elsewhere can act here, now or as soon as there is a connection
 */
export function isWithinReach(remote) {
  return ["connecting", "open", "closed"].includes(remote?.state ?? "");
}

/** @param {string} token */
export async function saveRefused(token) {
  await chrome.storage.local.set({ [REFUSED]: token });
}

/** @param {Record<string, Level>} clients */
export async function saveClients(clients) {
  await chrome.storage.local.set({ [CLIENTS]: clients });
}

/**
 * @param {any} stored
 * @returns {Service | null}
 */
function serviceOf(stored) {
  const urls = Array.isArray(stored?.urls) ? stored.urls.filter(isAddress) : [];
  const token = stored?.token;
  return urls.length && typeof token === "string" && token ? { urls, token } : null;
}

/**
 * @param {any} stored
 * @returns {Record<string, Level>}
 */
function clientsOf(stored) {
  const entries = Object.entries(stored ?? {}).filter(([, level]) => LEVELS.includes(level));
  return Object.fromEntries(entries);
}

/** @param {unknown} url */
function isAddress(url) {
  return typeof url === "string" && socketAddress(url) !== null;
}

/**
 * @param {Pick<RemoteState, "state" | "hosts">} remote
 * @returns {string} for the person
 */
export function remoteText({ state, hosts }) {
  const texts = {
    none: "Agents on other machines cannot reach this browser.",
    ended: `You have ended remote access through ${hosts}.`,
    stopped: `You have stopped everything; Resume also connects to ${hosts} again.`,
    refused: `${hosts} does not take this browser's token. Enter another one in the options.`,
    connecting: `Connecting to ${hosts}…`,
    open: `Connected to ${hosts}.`,
    closed: `Not connected to ${hosts}; the next attempt comes by itself.`,
  };
  return texts[state];
}

// Addresses.

const SOCKETS = new Map([
  ["https:", "wss:"],
  ["wss:", "wss:"],
  ["http:", "ws:"],
  ["ws:", "ws:"],
]);
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The WebSocket of a service. Without TLS anybody on the way could read the token, so that is only
 * for this machine.
 * @param {string} url with or without a scheme
 * @returns {URL | null} null if there is none
 */
export function socketAddress(url) {
  const text = /^[a-z]+:\/\//i.test(url.trim()) ? url.trim() : `https://${url.trim()}`;
  const parsed = URL.canParse(text) ? new URL(text) : null;
  const scheme = parsed && SOCKETS.get(parsed.protocol);
  if (!parsed || !scheme || parsed.username || parsed.password) return null;
  if (scheme === "ws:" && !LOOPBACK.test(parsed.hostname)) return null;
  return new URL(`${scheme}//${parsed.host}/extension`);
}

/**
 * Where a service exchanges a code for a token.
 * @param {string} url
 * @returns {string | null}
 */
export function pairingAddress(url) {
  const found = socketAddress(url);
  return found && `${found.protocol === "wss:" ? "https:" : "http:"}//${found.host}/pair`;
}

/**
 * What a token says about itself; nobody has checked it yet.
 * @param {string} token
 * @returns {{user: string, expires: number | null, url: string} | null} null if it is no JWT
 */
export function claimsOf(token) {
  try {
    const middle = token.trim().split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(middle), (character) => character.charCodeAt(0));
    const { user_id, sub, exp, connection_url } = JSON.parse(new TextDecoder().decode(bytes));
    return {
      user: String(user_id ?? sub ?? ""),
      expires: Number.isFinite(exp) ? exp * 1000 : null,
      url: typeof connection_url === "string" ? connection_url : "",
    };
  } catch {
    return null;
  }
}
