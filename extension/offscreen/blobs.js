/** Makes an address of the pieces of a file. It lives as long as this page. */

/** @type {Uint8Array<ArrayBuffer>[]} */
const parts = [];

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  // Content scripts live in pages and can send messages too.
  if (message?.to !== "blobs" || sender.tab || sender.id !== chrome.runtime.id) return;
  if (typeof message.data === "string") {
    parts.push(Uint8Array.from(atob(message.data), (character) => character.charCodeAt(0)));
    reply(true);
  } else reply(URL.createObjectURL(new Blob(parts, { type: message.type })));
});
