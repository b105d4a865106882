/** Who we are and where the server is. Read freshly before every attempt to connect. */

/** @typedef {{port: number, secret: string, profileId: string}} Identity */

/** @returns {Promise<Identity | null>} null while nobody has told us of a server */
export async function readIdentity() {
  const stored = await chrome.storage.local.get(["port", "secret", "profileId"]);
  const pairing = validPairing(await readPackagedPairing()) ?? validPairing(stored);
  if (!pairing) return null;
  return { ...pairing, profileId: await keepProfileId(stored.profileId) };
}

async function readPackagedPairing() {
  try {
    const answer = await fetch(chrome.runtime.getURL("auth.json"), { cache: "no-store" });
    return await answer.json();
  } catch {
    return null;
  }
}

/** @param {any} candidate */
function validPairing(candidate) {
  const port = Number(candidate?.port);
  const secret = candidate?.secret;
  if (!Number.isInteger(port) || port < 1 || port > 65535) return null;
  return typeof secret === "string" && secret ? { port, secret } : null;
}

/** @param {unknown} stored */
async function keepProfileId(stored) {
  if (typeof stored === "string" && stored) return stored;
  const profileId = crypto.randomUUID();
  await chrome.storage.local.set({ profileId });
  return profileId;
}
