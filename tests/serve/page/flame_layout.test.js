import assert from "node:assert/strict";
import test from "node:test";
import { between, boxAt, changeOf, changed, children, functions, graph, matches, path, sibling, stackText } from "../../../src/necroscope/serve/static/lib/flame_layout.js";

// all ─ main ─ read ─ scan (recursive), all ─ idle_loop
const NAMES = ["all", "main", "read", "scan", "idle_loop"];
const made = (more = {}) => graph({
  head: { names: NAMES, modules: ["", "app", "[kernel]"], kinds: ["thread", "program", "kernel"], sure: 0.01 },
  arrays: {
    x0: Float32Array.of(0, 0, 0, 0, 0, 0.75), x1: Float32Array.of(1, 0.75, 0.5, 0.5, 0.25, 1), parent: Uint32Array.of(0, 0, 1, 2, 3, 0),
    name: Uint32Array.of(0, 1, 2, 3, 3, 4), module: Uint32Array.of(0, 1, 2, 2, 2, 1), depth: Uint16Array.of(0, 1, 2, 3, 4, 1),
    kind: Uint8Array.of(0, 1, 2, 2, 2, 1), samples: Uint32Array.of(100, 75, 50, 50, 25, 25), own: Uint32Array.of(0, 25, 0, 25, 25, 25),
    cores: Float32Array.of(4, 3, 2, 2, 1, 1), ...more,
  },
});

test("boxes are found by row and place", () => {
  const one = made();
  assert.equal(boxAt(one, 1, 0.5), 1);
  assert.equal(boxAt(one, 1, 0.8), 5);
  assert.equal(boxAt(one, 2, 0.6), -1);
  assert.equal(boxAt(one, 9, 0.1), -1);
  assert.deepEqual(between(one, 1, 0.76, 1), [1, 2]);
});

test("a search counts nothing twice", () => {
  const found = matches(made(), "SCAN");
  assert.equal(found.number, 2);
  assert.equal(found.share, 0.5);
  assert.equal(matches(made(), "").number, 0);
  assert.equal(matches(made(), "kernel").share, 0.5);
});

test("recursion counts once in the table of functions", () => {
  const scan = functions(made()).find((row) => row.name === "scan");
  assert.equal(scan.cores, 2);
  assert.equal(scan.own, 0.5);
});

test("arrows lead to parents, children and siblings", () => {
  const one = made();
  assert.deepEqual(children(one, 0), [1, 5]);
  assert.equal(sibling(one, 1, 1), 5);
  assert.equal(sibling(one, 5, 1), -1);
  assert.equal(sibling(one, 0, 1), -1);
  assert.deepEqual(path(one, 4), [0, 1, 2, 3, 4]);
  assert.equal(stackText(one, 3), "main (app)\nread ([kernel])\nscan ([kernel])");
});

test("changes are new, gone, more, less, or may be chance", () => {
  const one = made({ before: Float32Array.of(2, 3, 0, 0, 3, 1), chance: Float32Array.of(0.5, 0.9, 0.001, 0.0001, 0.002, 0.2) });
  assert.deepEqual([0, 1, 2, 3, 4].map((box) => changeOf(one, box)), ["", "", "new", "new", "less"]);
  one.cores[4] = 0;
  assert.equal(changeOf(one, 4), "gone");
  assert.ok(!changed(one, 9).includes(2), "scan below it is as much new");
  assert.equal(changeOf(made(), 2), "");
});

test("fifty thousand boxes are made, found and searched at once", () => {
  const count = 50_000;
  const depth = new Uint16Array(count);
  const parent = new Uint32Array(count);
  const x0 = new Float32Array(count);
  const x1 = new Float32Array(count).fill(1);
  for (let box = 1; box < count; box += 1) {
    depth[box] = 1 + (box % 40);
    parent[box] = box % 40 === 0 ? 0 : box - 1;
    x0[box] = Math.floor(box / 40) / (count / 40);
    x1[box] = x0[box] + 40 / count;
  }
  depth[0] = 0;
  for (let box = 1; box < count; box += 1) depth[box] = 1 + ((box - 1) % 40);
  const arrays = { x0, x1, parent, depth, name: new Uint32Array(count).map((_, box) => box % 500), module: new Uint32Array(count), kind: new Uint8Array(count), samples: new Uint32Array(count), own: new Uint32Array(count), cores: new Float32Array(count).fill(0.1) };
  const began = performance.now();
  const one = graph({ head: { names: Array.from({ length: 500 }, (_, place) => `function_${place}`), modules: [""], kinds: ["program"], sure: 0.01 }, arrays });
  assert.ok(boxAt(one, 3, 0.5) > 0);
  assert.ok(matches(one, "function_7").number > 0);
  assert.ok(performance.now() - began < 400);
});
