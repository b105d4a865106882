/** page.dialog where a server asks for a user name and a password. */

import { effectOf } from "./input/act.js";
import { answerLogin, openLogin } from "./debugger/logins.js";
import { CommandError } from "./shared/command-errors.js";
import { Departure } from "./settle.js";
import { requireKnownSite, siteOf } from "./sites.js";

/** @import { Context } from "./tabs/navigation.js" */

/**
 * @param {Context<Wire.AnswerDialog>} context
 * @returns {Promise<Wire.AnsweredDialog>}
 */
export async function login(context) {
  const { tabId, input, site, signal, tellNews } = context;
  const pending = /** @type {import("./debugger/logins.js").Login} */ (openLogin(tabId));
  const credentials = input.action === "accept" ? credentialsOf(input.promptText) : null;
  await requireAllowed(context, siteOf(pending.url));
  signal.throwIfAborted();
  requireKnownSite(tabId, site);
  const departure = new Departure(tabId);
  try {
    answerLogin(tabId, credentials);
    if (pending.holdsPage) await departure.arrival();
    const navigated = await departure.destination();
    await tellNews();
    const again = openLogin(tabId)?.dialog;
    const effect = effectOf({ navigated, mutated: navigated !== undefined, dialog: again });
    return { effect, answered: pending.dialog, trusted: true };
  } finally {
    departure.stop();
  }
}

/** @param {unknown} text */
function credentialsOf(text) {
  const [, username, password] = /^([^:]*):([\s\S]*)$/.exec(String(text ?? "")) ?? [];
  if (username !== undefined && password !== undefined) return { username, password };
  const message = "Give the user name and the password as promptText: user:password.";
  throw new CommandError("invalid_arguments", message);
}

/**
 * The password goes to that site, whichever page the tab shows.
 * @param {Context} context
 * @param {string} asking
 */
async function requireAllowed({ reach, site }, asking) {
  const allowed = await reach.among([asking], site);
  if (!allowed || allowed.has(asking)) return;
  const message = `${asking} asks, where this tool is not allowed.`;
  throw new CommandError("permission_off", message, { frameSite: asking });
}
