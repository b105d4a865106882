/** Bytes as hexadecimal text, and back. */

/** @param {ArrayBuffer | Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} text */
export function bytesOf(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
