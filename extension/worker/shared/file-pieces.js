/** Files that arrive over the link, one piece at a time. */

import { CommandError } from "./command-errors.js";

const MOST_BYTES = 100 * 1024 * 1024;

/** @import { Context } from "./command-context.d.ts" */
/** @typedef {import("../input/file-upload.js").FileToGive} FileToGive */

/**
 * @param {Context} context
 * @param {FileToGive[]} files
 * @param {(index: number, data: string) => Promise<unknown>} give receives the next piece of a file
 */
export async function carry(context, files, give) {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > MOST_BYTES) throw tooLarge();
  let done = 0;
  for (const [index, { name, size }] of files.entries()) {
    for (let offset = 0; offset < size;) {
      const { data } = await context.readFile(index, offset);
      context.signal.throwIfAborted();
      const length = bytesIn(data);
      if (!length) throw changed(name);
      await give(index, data);
      offset += length;
      context.progress((done += length), total, "reading the file");
    }
  }
}

/** @param {string} base64 */
export function bytesIn(base64) {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function tooLarge() {
  const message =
    'More than 100 MB go into a page only where the browser reads the files itself: a person has to switch on "Allow access to file URLs" for the tabhub extension.';
  return new CommandError("too_large", message);
}

/** @param {string} name */
function changed(name) {
  return new CommandError("invalid_arguments", `${name} became shorter while it was being read.`);
}
