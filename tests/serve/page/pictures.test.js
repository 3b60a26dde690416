import assert from "node:assert/strict";
import test from "node:test";
import { chosen, parameters, ranges, words } from "../../../src/necroscope/serve/static/lib/choice.js";
import { unpacked } from "../../../src/necroscope/serve/static/lib/columns.js";
import { coresMap, summed, table } from "../../../src/necroscope/serve/static/lib/cores_map.js";
import { placed, roomFor } from "../../../src/necroscope/serve/static/lib/labels.js";
import { figure, percent, plain, short, shortened } from "../../../src/necroscope/serve/static/lib/text.js";

const BODY = (() => {
  const head = JSON.stringify({ from_ns: 1e18, column_ns: 2e9, columns: 3, cpus: [4, 7], look: "busy", full: 250, unknown: 255, not_read: [[1e18, 2e18]], arrays: [{ name: "mean", type: "u8", shape: [2, 3], offset: 512 }, { name: "peak", type: "u8", shape: [2, 3], offset: 520 }, { name: "held", type: "u16", shape: [2, 3], offset: 528 }] });
  const body = new ArrayBuffer(544);
  const bytes = new Uint8Array(body);
  bytes.set(new TextEncoder().encode("NCS1"));
  new DataView(body).setUint32(4, 504, true);
  bytes.set(new TextEncoder().encode(head.padEnd(504)), 8);
  bytes.set([50, 100, 255, 250, 250, 125], 512);
  bytes.set([60, 250, 255, 250, 250, 250], 520);
  new Uint16Array(body, 528, 6).set([0, 1, 0, 2, 2, 1]);
  return body;
})();

test("a map says what each core did, and full stretches go on from column to column", () => {
  const map = coresMap(unpacked(BODY));
  const [quiet, busy] = table(map, map.from, map.to);
  assert.deepEqual([quiet.cpu, quiet.held, quiet.known], [4, 1, 2 / 3]);
  assert.ok(Math.abs(quiet.mean - 0.3) < 1e-9);
  assert.deepEqual([busy.held, busy.heldAt], [4, 1e12]);
  const all = summed(map);
  assert.ok(Math.abs(all.mean[2] - 0.5) < 1e-9, "what is not known does not count as idle");
  assert.deepEqual([...all.held], [2, 2, 1]);
});

test("a body that is none is refused", () => {
  assert.throws(() => unpacked(new ArrayBuffer(16)), /no columns/);
});

test("rectangles ask for their rows, and all rows for none in particular", () => {
  const rows = [{ label: "a", cpu: 1 }, { label: "b", cpu: 2 }, { label: "c", pid: 5, tid: 6 }];
  const made = chosen(20, 10, rows, 9);
  assert.deepEqual([made.from, made.to, made.cpus, made.tids, made.pids], [10, 20, [1, 2], [6], []]);
  assert.deepEqual(parameters(made), { from: "10000000", to: "20000000", cpus: "1,2", tids: "6" });
  assert.deepEqual(chosen(1, 2, rows, 3).cpus, []);
  assert.equal(ranges([3, 1, 2, 9]), "1-3, 9");
  assert.equal(words(made), "10 ms of cores 1-2, thread 6");
});

test("labels never collide, and the weightier one stays", () => {
  const wishes = [{ at: 0, width: 50, rank: 1, index: 0 }, { at: 20, width: 50, rank: 4, index: 1 }, { at: 25, width: 50, rank: 2, index: 2 }, { at: 900, width: 300, rank: 9, index: 3 }];
  const { placed: room, left } = placed(wishes, 1000, 2);
  assert.deepEqual(left, [0]);
  for (const one of room) {
    for (const other of room) {
      if (one === other || one.row !== other.row) continue;
      const wide = wishes[one.index].width;
      assert.ok(one.left + wide <= other.left || other.left + wishes[other.index].width <= one.left);
    }
  }
  assert.equal(room.find((one) => one.index === 3).left, 700);
  assert.deepEqual(roomFor([{ at: 10, width: 40 }, { at: 50, width: 20 }, { at: 60, width: 20 }], 100), [false, true, false]);
});

test("names are made safe to look at", () => {
  assert.equal(plain("a\u001b[2Jb\u202ec\n"), "a\\u001b[2Jb\\u202ec\\u000a");
  assert.equal(plain("x".repeat(5000)).length, 401);
  assert.equal(plain("\ud800"), "\\ud800");
  assert.equal(plain("día 😀"), "día 😀");
  assert.equal(shortened("/a/very/long/path", 9), "/a/v…path");
  assert.deepEqual([percent(0.031), percent(0.98), percent(NaN), figure(14390), figure(0.0931), short(85_200)], ["3.1 %", "98 %", "not known", "14,390", "0.0931", "85.2k"]);
});
