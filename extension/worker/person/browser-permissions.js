/**
 * Permissions that the browser gives only after a press: those that are optional in this copy of the
 * extension. A command that needs one waits; the panel says what for, and asks the browser.
 */

import { CommandError } from "../shared/command-errors.js";
import { NEEDS, OPTIONAL } from "../shared/optional-permissions.js";
import { onAbort } from "../shared/timing.js";

/** Less than a call may take, so that the agent is told what it waits for. */
const WAIT_MS = 20_000;

/** @typedef {{name: string, why: string}} Wanted */
/** @typedef {"given" | "declined" | "late"} Outcome */

/** @type {Map<string, Set<(outcome: Outcome) => void>>} commands that wait, by permission */
const waiting = new Map();
/** @type {Set<string>} those that the panel shows: also after the command has given up */
const wanted = new Set();
let changed = () => {};

/** @param {() => void} listener called when `wantedPermissions` has changed */
export function onWanted(listener) {
  changed = listener;
}

/** @returns {Wanted[]} what the person is asked for */
export function wantedPermissions() {
  return [...wanted].map((name) => ({ name, why: OPTIONAL.get(name) ?? "" }));
}

/**
 * Whether `requirePermission` has to be awaited, which costs a turn.
 * @param {string} command
 */
export function mayNeedPermission(command) {
  const name = NEEDS.get(command);
  return name !== undefined && isOptional(name);
}

/**
 * Returns when the command may use what it needs.
 * @param {string} command
 * @param {AbortSignal} signal
 */
export async function requirePermission(command, signal) {
  const name = NEEDS.get(command);
  if (name === undefined) return;
  if (await chrome.permissions.contains(asked(name))) return;
  const outcome = await askFor(name, signal);
  signal.throwIfAborted();
  if (outcome === "declined") {
    throw new CommandError("permission_denied", `The person did not let tabhub ${why(name)}.`);
  }
  if (outcome === "late") throw notGiven(name);
}

/** @param {string} name */
function isOptional(name) {
  const { optional_permissions: optional = [] } = chrome.runtime.getManifest();
  return /** @type {string[]} */ (optional).includes(name);
}

/**
 * @param {string} name
 * @returns {chrome.permissions.Permissions}
 */
export function asked(name) {
  return { permissions: /** @type {any} */ ([name]) };
}

/**
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<Outcome>}
 */
function askFor(name, signal) {
  /** @type {PromiseWithResolvers<Outcome>} */
  const { promise, resolve } = Promise.withResolvers();
  const its = waiting.get(name) ?? new Set();
  waiting.set(name, its.add(resolve));
  if (!wanted.has(name)) {
    wanted.add(name);
    changed();
  }
  const timer = setTimeout(() => resolve("late"), WAIT_MS);
  const stop = onAbort(signal, () => resolve("late"));
  return promise.finally(() => {
    clearTimeout(timer);
    stop();
    its.delete(resolve);
  });
}

/** @param {string[]} names that the browser has given */
export function permissionsGiven(names) {
  for (const name of names) settle(name, "given");
}

/** @param {string} name that the person does not want to give now */
export function declinePermission(name) {
  settle(name, "declined");
}

/**
 * @param {string} name
 * @param {Outcome} outcome
 */
function settle(name, outcome) {
  if (!wanted.delete(name)) return;
  for (const resolve of waiting.get(name) ?? []) resolve(outcome);
  waiting.delete(name);
  changed();
}

/** @param {string} name */
function why(name) {
  return OPTIONAL.get(name) ?? `use ${name}`;
}

/** @param {string} name */
function notGiven(name) {
  return new CommandError(
    "needs_person",
    `The browser has not let tabhub ${why(name)} yet. The person is asked in tabhub's side panel; ` +
      "call again when they have allowed it.",
  );
}
