/**
 * This profile's id, and the server's port and secret. Read again before every attempt to connect.
 */

/** @typedef {{port: number, secret: string}} Pairing */
/** @typedef {Pairing & {profileId: string}} Identity */

/** @returns {Promise<Identity | null>} null while no server is known */
export async function readIdentity() {
  const pairing = await readPairing();
  if (!pairing) return null;
  return { port: pairing.port, secret: pairing.secret, profileId: await readProfileId() };
}

/**
 * @typedef {object} Origin
 * @property {boolean} isPackaged
 * @property {boolean} isManaged whether tabhub started this browser
 */

/** @returns {Promise<(Pairing & Origin) | null>} */
export async function readPairing() {
  const file = await readPackagedPairing();
  const packaged = validPairing(file);
  if (packaged) return { ...packaged, isPackaged: true, isManaged: file.managed === true };
  const entered = validPairing(await chrome.storage.local.get(["port", "secret"]));
  return entered && { ...entered, isPackaged: false, isManaged: false };
}

async function readPackagedPairing() {
  try {
    const answer = await fetch(chrome.runtime.getURL("auth.json"), { cache: "no-store" });
    return await answer.json();
  } catch {
    return null;
  }
}

/**
 * @param {any} candidate
 * @returns {Pairing | null}
 */
function validPairing(candidate) {
  const port = Number(candidate?.port);
  const secret = candidate?.secret;
  if (!Number.isInteger(port) || port < 1 || port > 65535) return null;
  return typeof secret === "string" && secret ? { port, secret } : null;
}

/** @type {Promise<string> | null} being read: two readers must not make two ids */
let reading = null;

/** The id of this profile, made once. */
export function readProfileId() {
  reading ??= keepProfileId().finally(() => (reading = null));
  return reading;
}

async function keepProfileId() {
  const { profileId: stored } = await chrome.storage.local.get("profileId");
  if (typeof stored === "string" && stored) return stored;
  const profileId = crypto.randomUUID();
  await chrome.storage.local.set({ profileId });
  return profileId;
}
