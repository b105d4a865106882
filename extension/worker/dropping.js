/** Files dragged from outside the browser and dropped on a page, with trusted input. */

import { actAndRest } from "./input/act.js";
import { send } from "./debugger/debugger.js";
import { CommandError } from "./shared/command-errors.js";
import { dragData } from "./input/trusted-input.js";

const COPY = 1;

/** @import { Context } from "./tabs/navigation.js" */

/**
 * @param {Context<{settle?: number}>} context
 * @param {import("./input/file-upload.js").Place} place
 * @param {string[]} paths
 * @param {string} tag
 */
export async function dropFiles(context, { frame, aim }, paths, tag) {
  const { tabId } = context;
  const prepare = async (/** @type {AbortSignal} */ live) => {
    const point = await aim(live, { by: "hover" });
    await frame.ask("watchUpload", {});
    return point;
  };
  const data = { items: [], files: paths, dragOperationsMask: COPY };
  return actAndRest(context, frame, prepare, async (point, live) => {
    try {
      await dragData(tabId, "dragEnter", point, data, 0);
      await dragData(tabId, "dragOver", point, data, 0);
      if (!(await frame.ask("takesDrop", {}))) throw takesNone(tag);
      live.throwIfAborted();
      await dragData(tabId, "drop", point, data, 0);
    } catch (error) {
      const params = { type: "dragCancel", ...point, data };
      void send(tabId, "Input.dispatchDragEvent", params).catch(() => {});
      throw error;
    }
  });
}

/** @param {string} tag */
export function takesNone(tag) {
  const message = `A <${tag}> takes no files here: it is not a file input, and refuses a drop. If it opens a file chooser, click it and then upload without a target.`;
  return new CommandError("invalid_arguments", message);
}
