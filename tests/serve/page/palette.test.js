// What the pictures tell by colour stays apart for the colour-blind: their eyes are simulated (Machado, Oliveira and
// Fernandes 2009, severity 1), and distances are measured where eyes measure them (OKLab).
import assert from "node:assert/strict";
import test from "node:test";
import { change, codeKind, decoded, found, full, hit, lab, lines, load, strengthOf } from "../../../src/necroscope/serve/static/lib/palette.js";

const EYES = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const seen = (colour, eyes) => {
  const light = decoded(colour);
  return lab(eyes.map((row) => Math.max(0, row[0] * light[0] + row[1] * light[1] + row[2] * light[2])));
};
const apart = (one, other, eyes) => Math.hypot(...seen(one, eyes).map((part, place) => part - seen(other, eyes)[place]));
const nearest = (colours, eyes) => Math.min(...colours.flatMap((one, place) => colours.slice(place + 1).map((other) => apart(one, other, eyes))));

for (const [name, eyes] of Object.entries(EYES)) {
  for (const theme of ["light", "dark"]) {
    test(`${name}, ${theme}: a full core looks like no load`, () => {
      for (const strength of [strengthOf(1, 30), strengthOf(6, 30), 1]) {
        for (const share of [0, 0.5, 0.8, 0.96, 1]) {
          const distance = apart(full(strength, theme), load(share, theme), eyes);
          assert.ok(distance > 0.09, `full ${strength} against load ${share}: ${distance.toFixed(3)}`);
        }
      }
    });
    test(`${name}, ${theme}: load rises evenly in lightness`, () => {
      const light = [0, 0.25, 0.5, 0.75, 1].map((share) => seen(load(share, theme), eyes)[0]);
      const steps = light.slice(1).map((one, place) => (one - light[place]) * (theme === "light" ? -1 : 1));
      assert.ok(steps.every((step) => step > 0.04), steps.map((step) => step.toFixed(3)).join(" "));
    });
    test(`${name}, ${theme}: lines of a track are told apart`, () => assert.ok(nearest(lines(theme), eyes) > 0.09, nearest(lines(theme), eyes).toFixed(3)));
    test(`${name}, ${theme}: what was searched for stands out of loads`, () => {
      for (const share of [0, 0.2, 0.35]) assert.ok(apart(found(1, theme), load(share, theme), eyes) > 0.15);
    });
  }
  test(`${name}: more, less and the same are told apart`, () => assert.ok(nearest([change(1), change(-1), change(0)], eyes) > 0.1));
  test(`${name}: kernel, program and just-in-time code are told apart`, () => {
    const told = nearest([codeKind("kernel"), codeKind("program"), codeKind("jit"), codeKind("library")], eyes);
    assert.ok(told > 0.045, told.toFixed(3));
  });
}

test("the longer a core is full, the stronger it looks", () => {
  assert.ok(strengthOf(1, 30) < strengthOf(3, 30) && strengthOf(3, 30) < strengthOf(5, 30));
  assert.equal(strengthOf(0, 30), 0);
  assert.equal(strengthOf(1, 1), 1);
});

test("text reads on every box (WCAG, 4.5)", () => {
  const luminance = (colour) => decoded(colour).reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const ink = luminance([20, 20, 26]);
  const boxes = [...["thread", "program", "library", "jit", "kernel", "unknown"].flatMap((kind) => [0, 1, 2, 3, 4].map((turn) => codeKind(kind, turn))), change(1), change(-1), hit()];
  for (const box of boxes) assert.ok((luminance(box) + 0.05) / (ink + 0.05) > 4.5, String(box));
});
