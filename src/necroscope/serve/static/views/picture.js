// A canvas that paints itself: as sharp as the screen, and once a frame at most.

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
}
