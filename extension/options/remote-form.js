/**
 * Where a person enters the service through which agents elsewhere reach this browser. Whoever can
 * make a person paste a token could lead the browser to a host of their own, so its host is shown
 * and must be confirmed.
 */

import {
  claimsOf,
  forgetService,
  isWithin,
  pairingAddress,
  readRemote,
  remoteText,
  saveService,
  socketAddress,
} from "../worker/shared/remote-settings.js";

const ANSWER_MS = 10_000;
/** A press that was meant for something else must not confirm. */
const REST_MS = 500;

/** @typedef {import("../worker/shared/remote-settings.js").Service} Service */
/** @typedef {Service & {hosts: string[], about: string}} Proposal */

/**
 * What a person would connect to.
 * @param {string} address
 * @param {string} token
 * @returns {Proposal}
 */
export function proposalOf(address, token) {
  const claims = claimsOf(token);
  if (!claims) throw new Error("This is not a token.");
  if (claims.expires !== null && claims.expires <= Date.now()) {
    throw new Error("This token has expired. Ask for another one.");
  }
  const given = addressesOf(address);
  const urls = given.length ? given : addressesOf(claims.url);
  if (!urls.length) throw new Error("The token does not name its service: enter the address.");
  const hosts = urls.map(requireHost);
  const until =
    claims.expires === null ? "" : ` It ends ${new Date(claims.expires).toLocaleString()}.`;
  return {
    urls,
    token: token.trim(),
    hosts,
    about: `The token is for the user ${claims.user}.${until}`,
  };
}

/** @param {string} text */
function addressesOf(text) {
  return text.split(",").flatMap((one) => one.trim() || []);
}

/** @param {string} url */
function requireHost(url) {
  const found = socketAddress(url);
  if (found) return found.host;
  throw new Error(`“${url}” is no address of a service. Without TLS it must be on this machine.`);
}

/**
 * @param {string} address
 * @param {string} code
 * @returns {Promise<string>} the token
 */
async function exchange(address, code) {
  if (!code.trim()) throw new Error("Enter a pairing code or a token.");
  const [url] = addressesOf(address);
  if (!url) throw new Error("Enter the address of the service that gave the code.");
  requireHost(url);
  const answer = await fetch(/** @type {string} */ (pairingAddress(url)), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code: code.trim() }),
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => null);
  if (!answer) throw new Error(`${url} does not answer.`);
  const body = await answer.json().catch(() => ({}));
  if (typeof body.token === "string") return body.token;
  throw new Error(String(body.error?.message ?? `${url} is not a tabhub proxy.`));
}

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {import("../worker/shared/remote-settings.js").RemoteState} remote */
export function showRemote(remote) {
  const text = remoteText(remote);
  if (byId("remote-state").textContent !== text) byId("remote-state").textContent = text;
  byId("remote-forget").hidden = remote.state === "none";
}

/** @type {Proposal | null} waits for the person */
let proposed = null;

/**
 * @param {Proposal} proposal
 * @returns {Promise<string>} what becomes of the service that is there
 */
async function consequence(proposal) {
  const { service, clients } = await readRemote();
  if (!service || isWithin(proposal, service)) return "";
  const hosts = service.urls.map(requireHost).join(", ");
  const isForgotten = Object.keys(clients).length > 0;
  return ` It replaces ${hosts}${isForgotten ? ", and what you have allowed its clients is forgotten" : ""}.`;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let rest;

/** @param {Proposal | null} proposal */
function propose(proposal) {
  proposed = proposal;
  byId("remote-confirm").hidden = !proposal;
  if (!proposal) return;
  const [, ...more] = proposal.hosts;
  byId("remote-question").textContent =
    `Let clients reach this browser through ${more.length ? "these hosts" : "this host"}?`;
  byId("remote-host").textContent = proposal.hosts.join("\n");
  byId("remote-about").textContent = proposal.about;
  const accept = /** @type {HTMLButtonElement} */ (byId("remote-accept"));
  accept.disabled = true;
  clearTimeout(rest);
  rest = setTimeout(() => (accept.disabled = false), REST_MS);
  byId("remote-confirm").focus();
}

/** @param {HTMLFormElement} form */
async function read(form) {
  const [address, code, token] = ["address", "code", "token"].map(
    (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value,
  );
  byId("remote-problem").textContent = "";
  propose(null);
  try {
    const proposal = proposalOf(address, token.trim() || (await exchange(address, code)));
    propose({ ...proposal, about: proposal.about + (await consequence(proposal)) });
  } catch (error) {
    byId("remote-problem").textContent = /** @type {Error} */ (error).message;
  }
}

/** @param {() => void} changed */
export function readyRemoteForm(changed) {
  const form = /** @type {HTMLFormElement} */ (byId("remote"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void read(form);
  });
  byId("remote-accept").addEventListener("click", async ({ isTrusted }) => {
    if (!proposed || !isTrusted) return;
    const { urls, token } = proposed;
    await saveService({ urls, token });
    form.reset();
    propose(null);
    changed();
  });
  byId("remote-cancel").addEventListener("click", () => propose(null));
  byId("remote-forget").addEventListener("click", async ({ isTrusted }) => {
    if (isTrusted) await forgetService();
    changed();
  });
}
