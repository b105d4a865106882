/** notices.show: messages from an agent to the person, under the agent's name. */

import { isExtensionPage } from "../shared/known-tabs.js";
import { CommandError, messageOf } from "../shared/command-errors.js";
import { clip, MESSAGE_LENGTH, TITLE_LENGTH } from "../shared/clip.js";
import { plain } from "./plain-text.js";

const NOTICE = "notice:";
/**
 * The URL is part of the notification's id, so it survives this worker; the browser limits the
 * length of ids.
 */
const MOST_ADDRESS = 400;
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,/i;

/**
 * @param {import("../shared/command-context.d.ts").Context<Wire.ShowNotice>} context
 * @returns {Promise<Wire.ShownNotice>}
 */
export async function showNotice({ input }) {
  const { agent, title, message, contextMessage, iconUrl, requireInteraction = false } = input;
  const id = `${NOTICE}${crypto.randomUUID()} ${addressOf(input)}`;
  const addition = contextMessage ? ` · ${contextMessage}` : "";
  const options = {
    title: plain(clip(title, TITLE_LENGTH)),
    message: plain(clip(message, MESSAGE_LENGTH)),
    // We add the sender's name, so that no agent can pose as tabhub or as another agent.
    contextMessage: plain(clip(`from ${agent}${addition}`, TITLE_LENGTH)),
    iconUrl: iconOf(iconUrl),
    requireInteraction,
  };
  try {
    await chrome.notifications.create(id, { type: "basic", ...options });
  } catch (error) {
    throw new CommandError(
      "invalid_arguments",
      `The notification could not be shown: ${messageOf(error)}`,
    );
  }
  return { shown: true };
}

/** @param {Wire.ShowNotice} input */
function addressOf({ url = "" }) {
  if (url.length > MOST_ADDRESS || isExtensionPage(url)) {
    const message = `url must be an address of at most ${MOST_ADDRESS} characters.`;
    throw new CommandError("invalid_arguments", message);
  }
  return url;
}

/** @param {unknown} address */
function iconOf(address) {
  if (address === undefined) return chrome.runtime.getURL("icons/128.png");
  if (typeof address === "string" && PICTURE.test(address)) return address;
  throw new CommandError("invalid_arguments", "iconUrl must be a data: address of a picture.");
}

/**
 * @param {string} id of a notification that was clicked
 * @returns {boolean} whether it was a message of an agent
 */
export function openNotice(id) {
  if (!id.startsWith(NOTICE)) return false;
  const url = id.slice(id.indexOf(" ") + 1);
  if (url) void chrome.tabs.create({ url });
  return true;
}
