/**
 * Replays a run that was recorded in a real browser (record.py), and checks at every event that a
 * worker that starts there restores the state of the worker that was running.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { sorted } from "./double.js";

const LIFE_MS = 60_000;
const LIFE = new URL("life.js", import.meta.url);
const WAKING = /^(?:debugger|tabs|webNavigation|windows)\./;
const run = JSON.parse(readFileSync(new URL("run.json", import.meta.url), "utf8"));

/**
 * @param {object} workerData
 * @returns {Promise<any[]>} the messages of a worker until its thread has finished
 */
function live(workerData) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const messages = [];
  const thread = new Worker(LIFE, { workerData });
  const timer = setTimeout(() => reject(new Error("a life took too long")), LIFE_MS);
  thread.on("error", reject);
  thread.on("message", (message) => {
    if (!message.isEnd) messages.push(message);
    if (message.isEnd || workerData.world) resolve(messages);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    return thread.terminate();
  });
}

/** A value without the order of lists, since restored entries may be in another order. */
function unordered(value) {
  if (Array.isArray(value))
    return value.map(unordered).sort((a, b) => (sorted(a) < sorted(b) ? -1 : 1));
  if (!value || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unordered(item)]));
}

const plain = (value) => unordered(JSON.parse(JSON.stringify(value)));

/** @returns {string} the event before this moment, for the message of a failure */
function placeOf(index) {
  const { step, event, args } = run[index];
  const before = run.slice(0, index).findLast((entry) => entry.step)?.step ?? "the start";
  return step ?? `${event} ${args?.[1]?.slice?.(0, 60) ?? ""} after ${before}`;
}

/**
 * @param {{name: string, expected: object, life: object}[]} lives
 */
async function compare(lives) {
  const wrong = [];
  const queue = [...lives];
  const work = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      const [{ state }] = await live(item.life);
      const [expected, found] = [plain(item.expected), plain(state)];
      for (const part of Object.keys(expected)) {
        const [kept, known] = [expected[part], found[part]];
        if (sorted(kept) === sorted(known)) continue;
        wrong.push(`${item.name}: ${part} was ${sorted(kept)}, is ${sorted(known)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  if (wrong.length) assert.fail(`${wrong.length} of ${lives.length}:\n${wrong.join("\n")}`);
}

const moments = await live({});

test("the recorded run leads to the states that it had in the browser", () => {
  const steps = moments.filter(({ index }) => run[index].step);
  assert.ok(steps.length > 15);
  for (const { index, state } of steps) {
    assert.deepEqual([run[index].step, plain(state)], [run[index].step, plain(run[index].state)]);
  }
});

test("a worker that is killed between any two events restores the same state", async () => {
  const lives = new Map();
  for (const { index, state, world } of moments) {
    const { asked: _, at: __, ...kept } = world;
    // The same state of browser and worker leads to the same next life.
    const key = sorted([kept, state]);
    if (!lives.has(key)) lives.set(key, { name: placeOf(index), expected: state, life: { world } });
  }
  assert.ok(lives.size > 50);
  await compare([...lives.values()]);
});

test("a worker that an event wakes handles it like a running worker", async () => {
  const lives = moments.slice(1).flatMap(({ index, state }, before) => {
    const { world, isBusy } = moments[before];
    const waking = run[index];
    if (isBusy || !WAKING.test(waking.event ?? "")) return [];
    return { name: `woken by ${placeOf(index)}`, expected: state, life: { world, waking } };
  });
  assert.ok(lives.length > 30);
  await compare(lives);
});
