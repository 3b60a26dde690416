import assert from "node:assert/strict";
import test from "node:test";
import { SHORTEST, covers, moved, placeOf, timeAt, widened, within, zoomed } from "../../../src/necroscope/serve/static/lib/range.js";

const HALF_DAY = { from: 1_700_000_000_000, to: 1_700_043_200_000 };

test("zooming keeps what is under the pointer where it is", () => {
  const at = HALF_DAY.from + 10_000_000;
  const near = zoomed(HALF_DAY, 0.1, at, HALF_DAY);
  assert.equal(near.to - near.from, 4_320_000);
  const before = placeOf(HALF_DAY, at, 1500);
  assert.ok(Math.abs(placeOf(near, at, 1500) - before) < 1e-6);
});

test("twelve hours zoom down to ten milliseconds and no further", () => {
  let range = HALF_DAY;
  for (let step = 0; step < 40; step += 1) range = zoomed(range, 0.5, HALF_DAY.from + 123_456, HALF_DAY);
  assert.equal(range.to - range.from, SHORTEST);
  for (let step = 0; step < 40; step += 1) range = zoomed(range, 2, HALF_DAY.from, HALF_DAY);
  assert.deepEqual(range, HALF_DAY);
});

test("nothing moves beyond what is recorded", () => {
  const hour = { from: HALF_DAY.from, to: HALF_DAY.from + 3_600_000 };
  assert.deepEqual(moved(hour, -1000, HALF_DAY), hour);
  assert.equal(moved(hour, 1e12, HALF_DAY).to, HALF_DAY.to);
  assert.deepEqual(within({ from: 0, to: 9e15 }, HALF_DAY), HALF_DAY);
  assert.deepEqual(widened(HALF_DAY, 3, HALF_DAY), HALF_DAY);
});

test("places and times are each other's inverse", () => {
  assert.equal(timeAt(HALF_DAY, placeOf(HALF_DAY, HALF_DAY.from + 777, 900), 900), HALF_DAY.from + 777);
  assert.ok(covers(HALF_DAY, { from: HALF_DAY.from + 1, to: HALF_DAY.to }));
  assert.ok(!covers(HALF_DAY, { from: HALF_DAY.from - 1, to: HALF_DAY.to }));
});
