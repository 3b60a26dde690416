import assert from "node:assert/strict";
import test from "node:test";
import { EMPTY, UPGRADERS, VERSION, parsed, written } from "../../../src/necroscope/serve/static/lib/url_state.js";

const FULL = {
  ...EMPTY, view: "moment", from: 1_767_323_045_000.25, to: 1_767_323_050_000, look: "system", rows: "thread",
  a: { from: 1_767_323_046_000, to: 1_767_323_047_000, cpus: [3, 9], pids: [], tids: [], cgroups: [] },
  b: { from: 1_767_323_048_000, to: 1_767_323_049_000, cpus: [], pids: [7], tids: [], cgroups: ["/a/<script>&=#"] },
  against: "b", search: "mem_cgroup é", include: "x", exclude: "y", inverted: true, upright: true, event: "15433027909508483906",
  zone: "local", follow: true, tables: true,
};

test("an address says everything, and is read back as it was", () => {
  assert.deepEqual(parsed(written(FULL)), FULL);
  assert.deepEqual(parsed(written(EMPTY)), EMPTY);
  assert.equal(written(EMPTY), "#v=1");
});

test("nonsense in an address is left out", () => {
  const told = parsed("#v=1&view=evil&from=9&to=3&look=../etc&a=x-y&a.cpus=1,zzz&b=5&vs=b&b.cgroups={}&q=" + "x".repeat(9999));
  assert.equal(told.view, "timeline");
  assert.equal(told.from, null);
  assert.equal(told.a, null);
  assert.equal(told.against, "none");
  assert.equal(told.search.length, 512);
});

test("addresses of every older version have an upgrader", () => {
  for (let version = 0; version < VERSION; version += 1) assert.ok(UPGRADERS[version], `version ${version}`);
  const told = parsed("#v=0&t=1767323045000-1767323050000&view=moment");
  assert.deepEqual([told.from, told.to, told.view], [1_767_323_045_000, 1_767_323_050_000, "moment"]);
});

test("an address of a later version is opened as far as it is understood", () => {
  assert.equal(parsed("#v=9&view=zombies&hologram=1").view, "zombies");
});
