/** A picture put together from pieces. */

import { CommandError } from "./shared/command-errors.js";

/** @typedef {import("./picture/tiles.js").Box} Box */

export class Mosaic {
  #canvas;
  #context;

  /**
   * @param {number} width
   * @param {number} height
   */
  constructor(width, height) {
    this.#canvas = new OffscreenCanvas(width, height);
    const context = this.#canvas.getContext("2d");
    if (!context) throw new CommandError("too_large", "The browser has no room for this picture.");
    context.imageSmoothingQuality = "high";
    this.#context = context;
  }

  /**
   * @param {string} data a piece in base64
   * @param {Box} place
   * @param {Box} [source] the part of it that is wanted
   */
  async add(data, { x, y, width, height }, source) {
    const answer = await fetch(`data:image/png;base64,${data}`);
    const bitmap = await createImageBitmap(await answer.blob());
    const from = source ?? { x: 0, y: 0, width: bitmap.width, height: bitmap.height };
    const { x: left, y: top, width: wide, height: high } = from;
    this.#context.drawImage(bitmap, left, top, wide, high, x, y, width, height);
    bitmap.close();
  }

  /**
   * @param {{format: string, quality: number}} how
   * @returns {Promise<string>} in base64
   */
  async encode({ format, quality }) {
    const type = `image/${format}`;
    const blob = await this.#canvas.convertToBlob({ type, quality: quality / 100 });
    const { promise, resolve, reject } = Promise.withResolvers();
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
    const address = /** @type {string} */ (await promise);
    return address.slice(address.indexOf(",") + 1);
  }
}
