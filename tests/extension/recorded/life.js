/** One life of the worker in its own thread: through a whole run, or after a restart. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

import { Double, newWorld } from "./double.js";

const QUIET_MS = 4;
/** After this time without a request, the worker does not repeat those of the recording. */
const PATIENCE_MS = 50;
const STABLE_MS = 40;
const LATEST_MS = 8000;

const run = JSON.parse(readFileSync(new URL("run.json", import.meta.url), "utf8"));
const { world, waking } = workerData;
if (world) passTime(world.at - Date.now());
const double = new Double(run, world ?? firstWorld());
double.install();
await import("../../../extension/worker/main.js");
const { onceRestored } = await import("../../../extension/worker/shared/tab-state.js");
await (world ? liveOn() : liveThrough());

function firstWorld() {
  const first = newWorld();
  const { answer } = run.find(
    ({ call, args }) => call === "tabs.query" && !Object.keys(args[0]).length,
  );
  for (const tab of answer[0]) first.tabs[tab.id] = tab;
  return first;
}

/** @param {number} by */
function passTime(by) {
  const { now } = Date;
  Date.now = () => now() + by;
}

function snapshot() {
  return { ...structuredClone(double.world), at: Date.now() };
}

async function quiet() {
  for (let asked = -1; asked !== double.asked;) {
    asked = double.asked;
    await sleep(QUIET_MS);
  }
}

/** An event often follows from requests of the worker: wait until it has made as many of them. */
async function until(count) {
  for (
    let waited = 0, asked = double.asked;
    double.asked < count && waited < PATIENCE_MS;
    waited++
  ) {
    await sleep(1);
    if (asked !== double.asked) [waited, asked] = [0, double.asked];
  }
}

async function liveThrough() {
  await settled();
  let behind = 0;
  let count = 0;
  for (const [index, entry] of run.entries()) {
    if (/^debugger\.(attach|sendCommand)$/.test(entry.call) || entry.post) count++;
    if (entry.event) {
      await until(count - behind);
      behind = Math.max(count - double.asked, 0);
      double.replay(entry);
      await quiet();
    }
    if (entry.step) await settled();
    if (!entry.event && !entry.step) continue;
    const state = await self.describeTabState();
    const { isBusy } = double;
    parentPort.postMessage({ index, state, world: snapshot(), isBusy });
  }
  parentPort.postMessage({ isEnd: true });
}

async function liveOn() {
  if (waking) double.replay(waking);
  double.reconnect();
  await settled();
  parentPort.postMessage({ state: await self.describeTabState() });
}

/** Wait until the worker has restored its state, and the state is stable. */
async function settled() {
  await new Promise(onceRestored);
  let [before, since] = ["", Date.now()];
  const began = Date.now();
  while (Date.now() - since < STABLE_MS && Date.now() - began < LATEST_MS) {
    await quiet();
    const now = JSON.stringify(await self.describeTabState());
    if (now !== before) [before, since] = [now, Date.now()];
  }
}
