/**
 * What the server gave this origin when the person allowed it, by the server's URL. It is stored in
 * IndexedDB: all tabs of the origin in one browser profile share it.
 */

/** @typedef {{id: string, key: string, token: string}} Pairing */

const NAME = "tabhub";

/**
 * @param {(store: IDBObjectStore) => IDBRequest} use
 * @returns {Promise<any>}
 */
export async function inStore(use) {
  const opening = indexedDB.open(NAME);
  opening.onupgradeneeded = () => opening.result.createObjectStore(NAME);
  const database = await done(opening);
  const result = await done(use(database.transaction(NAME, "readwrite").objectStore(NAME)));
  // An open database could not be deleted.
  database.close();
  return result;
}

/**
 * @param {IDBRequest} request
 * @returns {Promise<any>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
}

/**
 * Whether the server's proof is the hash of this text, which ends with a key that only it knows.
 * A page that is not a secure context cannot compute it.
 * @param {number[]} proof
 * @param {string} text
 */
export async function isProof(proof, text) {
  const hash = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(text));
  return !hash || `${new Uint8Array(hash)}` === `${proof}`;
}
