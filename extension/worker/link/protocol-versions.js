/**
 * Which is older, this extension or the server, and what a person should do about it. Whichever is
 * newer decides whether they can work together, since only it knows both protocols.
 */

import { OLDEST_PROTOCOL, PROTOCOL } from "../shared/link-methods.js";

/** The close code when extension and server have no protocol in common. */
export const INCOMPATIBLE = 4004;

const UPDATE_EXTENSION =
  "Update the extension: run “tabhub extension path”, then reload it in chrome://extensions.";
const UPDATE_SERVER =
  "Update tabhub: uv tool upgrade tabhub, pipx upgrade tabhub or pip install -U tabhub, as you installed it; then tabhub stop and tabhub start.";

/** @typedef {{protocol: number, version: string}} End */
/** @typedef {{problem: string, do: string, isRefused: boolean}} Mismatch */

/** @returns {End} */
export function ownEnd() {
  return { protocol: PROTOCOL, version: chrome.runtime.getManifest().version };
}

/** The WebSocket subprotocol that announces the version. @param {End} end */
export function offerOf({ protocol, version }) {
  return `v${protocol}-${version}`;
}

/**
 * @param {End} extension
 * @param {End} server
 * @param {boolean} [isRefused] whether the server has refused this extension
 * @returns {Mismatch | null} null when both are of the same version
 */
export function mismatchOf(extension, server, isRefused = false) {
  const order = compare(extension, server);
  if (order === 0) return null;
  const cannot = isRefused || (order > 0 && server.protocol < OLDEST_PROTOCOL);
  const how = order < 0 ? "older" : "newer";
  const end = cannot ? ", and the two cannot work together." : ".";
  return {
    problem: `This extension (${nameOf(extension)}) is ${how} than the server (${nameOf(server)})${end}`,
    do: order < 0 ? UPDATE_EXTENSION : UPDATE_SERVER,
    isRefused: cannot,
  };
}

/** @param {End} end */
function nameOf({ protocol, version }) {
  return `${version || "version unknown"}, protocol ${protocol}`;
}

/**
 * By protocol, then by version; a suffix after the version's numbers does not count.
 * @param {End} a
 * @param {End} b
 */
function compare(a, b) {
  const [ours, theirs] = [numbersOf(a), numbersOf(b)];
  for (let i = 0; i < Math.max(ours.length, theirs.length); i++) {
    const difference = (ours[i] ?? 0) - (theirs[i] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

/** @param {End} end */
function numbersOf({ protocol, version }) {
  const [numbers = ""] = /^\d+(\.\d+)*/.exec(version) ?? [];
  return [protocol, ...numbers.split(".").map(Number)];
}

/** The last server we connected to, and how its version differs. */
export class MetServer {
  /** @type {End | null} */
  #server = null;
  /** @type {Mismatch | null} */
  mismatch = null;

  /**
   * @param {any} params of `sync.full`
   * @returns {boolean} whether the link can go on
   */
  greeted({ protocol, server }) {
    this.#server = {
      protocol: Number.isInteger(protocol) ? protocol : 1,
      version: typeof server?.version === "string" ? server.version.slice(0, 40) : "",
    };
    this.mismatch = mismatchOf(ownEnd(), this.#server);
    return !this.mismatch?.isRefused;
  }

  /** @param {number} code */
  closed(code) {
    if (code === INCOMPATIBLE && this.#server) {
      this.mismatch = mismatchOf(ownEnd(), this.#server, true);
    }
  }

  /** For the person; empty when the versions match. */
  get text() {
    return this.mismatch ? `${this.mismatch.problem} ${this.mismatch.do}` : "";
  }

  /** Why there is no connection, if the version is the reason. */
  get problem() {
    return this.mismatch?.isRefused ? this.text : "";
  }
}
