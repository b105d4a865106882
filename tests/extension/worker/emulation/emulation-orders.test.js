import assert from "node:assert/strict";
import { test } from "node:test";
import {
  KIND_NAMES,
  ordersFor,
  ordersOf,
} from "../../../../extension/worker/emulation/emulation-orders.js";

const device = { width: 1, height: 2, deviceScaleFactor: 3, mobile: true, userAgent: "x" };

test("orders are sent for emulated features only", () => {
  assert.deepEqual(ordersFor({}), []);
  const orders = ordersFor({ device, vision: "blurredVision" });
  const methods = orders.map(({ method }) => method.replace(/^\w+\./, ""));
  assert.deepEqual(methods, [
    "setDeviceMetricsOverride",
    "setTouchEmulationEnabled",
    "setUserAgentOverride",
    "setEmulatedVisionDeficiency",
  ]);
});

test("a device has no user agent of its own unless one is given", () => {
  const { userAgent, ...plain } = device;
  const agents = [device, plain, undefined].map(
    (value) => /** @type {any} */ (ordersOf("device", value)[2]).params.userAgent,
  );
  assert.deepEqual(agents, [userAgent, "", ""]);
});

test("every kind of emulation can be ended", () => {
  for (const kind of KIND_NAMES) assert.ok(ordersOf(kind, undefined).length > 0);
  const [free] = ordersOf("network", undefined);
  assert.equal(/** @type {any} */ (free).params.downloadThroughput, -1);
});
