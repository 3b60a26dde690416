import assert from "node:assert/strict";
import test from "node:test";
import { moment, nanoseconds, span, ticks, timeOfDay, zoneName } from "../../../src/necroscope/serve/static/lib/time.js";

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test("nanoseconds are exact to the microsecond", () => {
  assert.equal(nanoseconds(AT), `${AT}000000`);
  assert.equal(nanoseconds(AT + 0.25), `${AT}250000`);
});

test("times of day are as long as the step needs", () => {
  assert.equal(timeOfDay(AT, "utc", 60_000), "03:04");
  assert.equal(timeOfDay(AT, "utc", 1000), "03:04:05");
  assert.equal(timeOfDay(AT, "utc", 1), "03:04:05.678");
  assert.equal(moment(AT, "utc"), "2026-01-02 03:04:05.678");
});

test("local times say how far they are from UTC", () => {
  // The test is run with TZ=Asia/Kolkata.
  assert.equal(zoneName("local", AT), "UTC+05:30");
  assert.equal(timeOfDay(AT, "local", 1000), "08:34:05");
  assert.equal(zoneName("utc", AT), "UTC");
  const { at } = ticks(AT, AT + 7_200_000, 4, "local");
  assert.ok(at.every((one) => timeOfDay(one, "local", 60_000).endsWith(":00") || timeOfDay(one, "local", 60_000).endsWith(":30")));
});

test("ticks are round and few", () => {
  for (const length of [10, 1000, 41_034, 3_600_000, 43_200_000, 600_000_000]) {
    const { step, at } = ticks(AT, AT + length, 10, "utc");
    assert.ok(at.length <= 11 && at.length >= 2, `${length}: ${at.length}`);
    assert.ok(at.every((one) => one % step === 0 && one >= AT && one <= AT + length));
  }
});

test("lengths of time have two units at most", () => {
  assert.deepEqual([0.5, 20, 1500, 61_000, 3_599_900, 5_400_000, 90_000_000].map(span), ["0.5 ms", "20 ms", "1.5 s", "1 min 1 s", "1 h", "1 h 30 min", "1 d 1 h"]);
});
