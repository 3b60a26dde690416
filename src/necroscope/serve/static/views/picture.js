// A canvas that paints itself: as sharp as the screen, once a frame at most, and as PNG or SVG on demand.

import { SvgContext } from "../draw/svg_context.js";
import { BOLD, COLOURS, SMALL } from "../draw/theme.js";

/** @typedef {import("../draw/theme.js").Context} Context */

export class Picture {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(context: Context, width: number, height: number) => void} paint
   * @param {(width: number) => number} height
   */
  constructor(canvas, paint, height) {
    this.canvas = canvas;
    this.paint = paint;
    this.height = height;
    this.waiting = 0;
    /** Milliseconds of the latest paintings, for measurements. @type {number[]} */
    this.times = [];
    new ResizeObserver(() => this.repaint()).observe(/** @type {Element} */ (canvas.parentElement));
  }

  get width() {
    return Math.max(60, /** @type {HTMLElement} */ (this.canvas.parentElement).clientWidth);
  }

  repaint() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.now();
    });
  }

  now() {
    const began = performance.now();
    const { canvas, width } = this;
    if (!canvas.offsetParent) return;
    const height = Math.max(1, Math.round(this.height(width)));
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(context, width, height);
    this.times.push(performance.now() - began);
    if (this.times.length > 240) this.times.shift();
  }

  /** What is on the screen, with a head that says where and when. @param {string[]} head @param {import("../lib/palette.js").Theme} theme @returns {SvgContext} */
  svg(head, theme) {
    const measuring = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    const { width } = this;
    const height = this.height(width);
    const made = new SvgContext(width, Math.round(height + 40), measuring);
    this.#headed(made, head, theme, width, height);
    return made;
  }

  /** @param {string[]} head @param {import("../lib/palette.js").Theme} theme @returns {Promise<Blob>} */
  png(head, theme) {
    const canvas = document.createElement("canvas");
    const { width } = this;
    const height = this.height(width);
    canvas.width = width * 2;
    canvas.height = Math.round(height + 40) * 2;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(2, 2);
    this.#headed(context, head, theme, width, height);
    return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png"));
  }

  /** @param {Context} context @param {string[]} head @param {import("../lib/palette.js").Theme} theme @param {number} width @param {number} height */
  #headed(context, head, theme, width, height) {
    const colours = COLOURS[theme];
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, width, height + 40);
    context.fillStyle = colours.ink;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = BOLD;
    context.fillText(head[0], 8, 12);
    context.font = SMALL;
    context.fillStyle = colours.dim;
    context.fillText(head[1] ?? "", 8, 28);
    context.save();
    context.translate(0, 40);
    this.paint(context, width, height);
    context.restore();
  }
}

/** Give a file to whoever looks. @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
