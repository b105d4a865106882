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
  saveService,
  socketAddress,
} from "../../worker/shared/remote-settings.js";
import { brief, button, byId, el, strange } from "../dom.js";

const ANSWER_MS = 10_000;

/** @typedef {import("../../worker/shared/remote-settings.js").Service} Service */
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
    about: `The token is for the user ${brief(claims.user)}.${until}`,
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

/** @type {Proposal | null} waits for the person */
let proposed = null;
let problem = "";

/**
 * @param {HTMLFormElement} form
 * @param {() => void} paint
 */
async function read(form, paint) {
  const entered = new FormData(form);
  const [address, code, token] = ["address", "code", "token"].map((name) =>
    String(entered.get(name)),
  );
  problem = "";
  proposed = null;
  try {
    const proposal = proposalOf(address, token.trim() || (await exchange(address, code)));
    proposed = { ...proposal, about: proposal.about + (await consequence(proposal)) };
  } catch (error) {
    problem = /** @type {Error} */ (error).message;
  }
  paint();
  if (proposed) byId("remote-confirm").focus();
}

/**
 * @param {boolean} isSet whether there is a service that can be removed
 * @param {() => void} paint at once
 */
export function serviceForm(isSet, paint) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void read(/** @type {HTMLFormElement} */ (event.currentTarget), paint);
  };
  const forget = async () => {
    await forgetService();
    paint();
  };
  return el(
    "div",
    {},
    el(
      "p",
      { class: "quiet" },
      "Through a tabhub proxy, agents on other machines can use this browser. Which client may do what, you decide in the panel; before that, none may do anything.",
    ),
    el(
      "form",
      { id: "remote", class: "fields", onsubmit: submit },
      field("Service", {
        name: "address",
        placeholder: "proxy.example.com",
        "aria-describedby": "remote-hint",
      }),
      el(
        "p",
        { class: "quiet", id: "remote-hint" },
        "Several addresses of one service are separated by commas. With a token that names its service, no address is needed.",
      ),
      field("Pairing code", { name: "code", maxlength: 20 }),
      field("or token", { name: "token", type: "password" }),
      el(
        "button",
        { "data-safe": true, "data-action": "service-read", class: "primary" },
        "Continue",
      ),
    ),
    el("p", { id: "remote-problem", class: "note", role: "alert" }, problem && strange(problem)),
    confirmation(paint),
    el(
      "p",
      { hidden: !isSet },
      button(
        "Remove this service",
        { id: "remote-forget", "data-safe": true, class: "deny" },
        forget,
      ),
    ),
  );
}

/**
 * @param {string} label
 * @param {import("../dom.js").Attributes} attributes
 */
function field(label, attributes) {
  return el(
    "label",
    { class: "field" },
    label,
    el("input", { autocomplete: "off", ...attributes }),
  );
}

/** @param {() => void} paint */
function confirmation(paint) {
  const hosts = proposed?.hosts ?? [];
  const close = () => {
    proposed = null;
    paint();
  };
  const accept = async () => {
    if (!proposed) return;
    const { urls, token } = proposed;
    await saveService({ urls, token });
    /** @type {HTMLFormElement} */ (byId("remote")).reset();
    close();
  };
  return el(
    "div",
    {
      id: "remote-confirm",
      class: "card",
      role: "alertdialog",
      "aria-labelledby": "remote-question",
      "aria-describedby": "remote-host remote-about",
      tabindex: "-1",
      hidden: !proposed,
    },
    el(
      "p",
      { id: "remote-question" },
      `Let clients reach this browser through ${hosts.length > 1 ? "these hosts" : "this host"}?`,
    ),
    el("p", { id: "remote-host" }, hosts.join("\n")),
    el("p", { id: "remote-about" }, proposed?.about ?? ""),
    el(
      "div",
      { class: "choices" },
      button("Connect", { id: "remote-accept" }, accept),
      button("Cancel", { id: "remote-cancel", "data-safe": true }, close),
    ),
  );
}
