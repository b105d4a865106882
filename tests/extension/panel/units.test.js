import assert from "node:assert/strict";
import { test } from "node:test";

import { ago, clock, count, duration, size } from "../../../extension/panel/units.js";

test("a duration has the unit in which people say it", () => {
  const said = [0, 999.4, 1234, 9949, 9960, 59_499, 60_000, 125_000, 3_600_000, 5_400_000].map(duration);
  assert.deepEqual(said, [
    "0 ms",
    "999 ms",
    "1.2 s",
    "9.9 s",
    "10 s",
    "59 s",
    "1 min",
    "2 min 5 s",
    "1 h",
    "1 h 30 min",
  ]);
  assert.equal(duration(-5), "0 ms");
  assert.equal(duration(NaN), "");
});

test("a size has two or three digits", () => {
  const said = [0, 999, 1000, 3482, 10_240, 1_047_552, 5_000_000, 3e12].map(size);
  assert.deepEqual(said, ["0 B", "999 B", "1.0 KB", "3.4 KB", "10 KB", "1.0 MB", "4.8 MB", "2794 GB"]);
  assert.equal(size(-1), "");
  assert.equal(size(undefined), "");
});

test("a time is said as how long ago it was", () => {
  const now = 1_800_000_000_000;
  const said = [0, 4999, 12_000, 130_000, 3 * 3_600_000, 86_400_000, 3 * 86_400_000].map((past) =>
    ago(now - past, now),
  );
  assert.deepEqual(said, [
    "just now",
    "just now",
    "12 s ago",
    "2 min ago",
    "3 h ago",
    "1 day ago",
    "3 days ago",
  ]);
  assert.match(ago(now - 30 * 86_400_000, now), /\d{4}/);
  assert.equal(ago(null, now), "never");
  assert.equal(ago(now + 60_000, now), "just now", "clocks differ");
});

test("numbers have separators, and one is not several", () => {
  assert.equal(count(1, "tool"), "1 tool");
  assert.equal(count(12_345, "tool"), "12,345 tools");
  assert.equal(clock(NaN), "");
});
