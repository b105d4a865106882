import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.chrome = {};
const { fit, inside, isWithin, onThePage, pixelsOf, tilesOf } =
  await import("../../../../extension/worker/picture/tiles.js");

const box = (x, y, width, height) => ({ x, y, width, height });

test("tiles cover an area without gaps, each at its place in the picture", () => {
  for (const scale of [0.1, 0.37, 1, 1.5, 4]) {
    const area = box(10, 20, 2500, 7777);
    const whole = pixelsOf(area, scale);
    const tiles = tilesOf(area, scale);
    const places = tiles.map(({ place }) => place);
    assert.equal(Math.max(...places.map(({ x, width }) => x + width)), whole.width);
    assert.equal(Math.max(...places.map(({ y, height }) => y + height)), whole.height);
    const surface = places.reduce((sum, { width, height }) => sum + width * height, 0);
    assert.equal(surface, whole.width * whole.height);
    for (const { box: part, place } of tiles) {
      assert.ok(Math.abs((part.x - area.x) * scale - place.x) < 1e-6);
      assert.ok(Math.max(part.width, part.height, place.width, place.height) <= 2000.001);
    }
  }
});

test("an area that is too thin is drawn with more around it", () => {
  const [tile] = tilesOf(box(0, 0, 900, 1), 1);
  assert.deepEqual(tile.place, box(0, 0, 900, 30));
  assert.deepEqual(pixelsOf({ width: 900, height: 1 }, 1), { width: 900, height: 1 });
});

test("a picture has a largest size, and keeps the requested scale within it", () => {
  assert.equal(fit(box(0, 0, 800, 12_000), 1), 1);
  assert.equal(fit(box(0, 0, 800, 32_000), 1), 0.5);
  const { width, height } = pixelsOf({ width: 9000, height: 9000 }, fit(box(0, 0, 9000, 9000), 4));
  assert.ok(width * height <= 32_100_000);
});

test("a region is named within its frame", () => {
  const frame = box(100, 500, 800, 600);
  assert.deepEqual(inside(box(0, 10, 800, 590), frame), box(100, 510, 800, 590));
  const bad = [box(0, 0, 801, 1), box(-1, 0, 5, 5), box(0, 0, 0, 5), box(0, 0, "5", 5), {}];
  for (const region of bad) {
    assert.throws(() => inside(region, frame), { reason: "invalid_arguments" });
  }
});

test("an element's box is cut to the page", () => {
  const page = { viewport: box(0, 1000, 800, 600), size: { width: 800, height: 5000 } };
  assert.deepEqual(onThePage(box(10, 20, 30, 40), page), box(10, 1020, 30, 40));
  assert.deepEqual(onThePage(box(-10, 3990, 30, 40), page), box(0, 4990, 20, 10));
  assert.throws(() => onThePage(box(-50, 0, 30, 40), page), { reason: "not_visible" });
  assert.ok(isWithin(box(0, 1000, 800, 600), page.viewport));
  assert.ok(!isWithin(box(0, 900, 800, 600), page.viewport));
});
