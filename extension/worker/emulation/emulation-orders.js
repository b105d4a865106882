/** The debugger commands that begin and end each kind of emulation. */

/**
 * @typedef {Wire.Emulated} Emulated
 * @typedef {keyof Emulated} Kind
 * @typedef {{method: string, params: object, everywhere?: boolean}} Order
 *   `everywhere`: also for frames in other processes
 */

const FREE = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };

/** @type {{[K in Kind]-?: (value: Emulated[K]) => Order[]}} undefined ends it */
const KINDS = {
  device: (device) => [metrics(device), touch(device), userAgent(device)],
  geolocation: (place) =>
    place
      ? [{ method: "Emulation.setGeolocationOverride", params: place }]
      : [{ method: "Emulation.clearGeolocationOverride", params: {} }],
  media: (features = []) => [
    { method: "Emulation.setEmulatedMedia", params: { features }, everywhere: true },
  ],
  vision: (type = "none") => [
    { method: "Emulation.setEmulatedVisionDeficiency", params: { type } },
  ],
  network: (conditions = FREE) => [
    { method: "Network.emulateNetworkConditions", params: conditions, everywhere: true },
  ],
};

/** @param {Emulated["device"]} device */
function metrics(device) {
  if (!device) return { method: "Emulation.clearDeviceMetricsOverride", params: {} };
  const { width, height, deviceScaleFactor, mobile } = device;
  const params = { width, height, deviceScaleFactor, mobile };
  return { method: "Emulation.setDeviceMetricsOverride", params };
}

/** @param {Emulated["device"]} device */
function touch(device) {
  const params = { enabled: Boolean(device?.mobile) };
  return { method: "Emulation.setTouchEmulationEnabled", params };
}

/** @param {Emulated["device"]} device */
function userAgent(device) {
  const params = { userAgent: device?.userAgent ?? "" };
  return { method: "Emulation.setUserAgentOverride", params, everywhere: true };
}

export const KIND_NAMES = /** @type {Kind[]} */ (Object.keys(KINDS));

/**
 * @template {Kind} K
 * @param {K} kind
 * @param {Emulated[K] | undefined} value undefined ends it
 * @returns {Order[]}
 */
export function ordersOf(kind, value) {
  return /** @type {(value: any) => Order[]} */ (KINDS[kind])(value);
}

/**
 * @param {Emulated} state
 * @returns {Order[]} all commands for it
 */
export function ordersFor(state) {
  return KIND_NAMES.filter((kind) => state[kind] !== undefined).flatMap((kind) =>
    ordersOf(kind, state[kind]),
  );
}
