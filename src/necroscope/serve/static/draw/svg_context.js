// What pictures are drawn on when an SVG file is made of them: the part of a canvas's context that the pictures use,
// written down as shapes.

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/g, "�");
}

/** @param {number} value */
function short(value) {
  return String(Math.round(value * 100) / 100);
}

export class SvgContext {
  /** @param {number} width @param {number} height @param {CanvasRenderingContext2D} measuring */
  constructor(width, height, measuring) {
    this.width = width;
    this.height = height;
    this.measuring = measuring;
    /** @type {string[]} */
    this.parts = [];
    this.clips = 0;
    this.fillStyle = "#000";
    this.strokeStyle = "#000";
    this.lineWidth = 1;
    this.font = "12px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.globalAlpha = 1;
    this.imageSmoothingEnabled = false;
    /** @type {number[]} */
    this.dash = [];
    this.path = "";
    this.x = 0;
    this.y = 0;
    /** @type {{state: Record<string, any>, groups: number}[]} */
    this.saved = [];
    this.groups = 0;
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dash, x, y } = this;
    this.saved.push({ state: { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha, dash, x, y }, groups: this.groups });
    this.groups = 0;
  }

  restore() {
    const last = this.saved.pop();
    if (!last) return;
    this.parts.push("</g>".repeat(this.groups));
    Object.assign(this, last.state);
    this.groups = last.groups;
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.x += x;
    this.y += y;
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = "";
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${short(x + this.x)} ${short(y + this.y)}`;
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${short(x + this.x)} ${short(y + this.y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${short(x + this.x)} ${short(y + this.y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#c${this.clips})">`);
    this.groups += 1;
  }

  fill() {
    this.parts.push(`<path d="${this.path}" ${this.#paint("fill")}/>`);
  }

  stroke() {
    this.parts.push(`<path d="${this.path}" fill="none" ${this.#paint("stroke")}${this.#lines()}/>`);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.parts.push(`<rect ${this.#box(x, y, width, height)} ${this.#paint("fill")}/>`);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    this.parts.push(`<rect ${this.#box(x, y, width, height)} fill="none" ${this.#paint("stroke")}${this.#lines()}/>`);
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const anchor = { center: "middle", right: "end" }[/** @type {"center"} */ (this.textAlign)] ?? "start";
    const size = Number(/(\d+(?:\.\d+)?)px/.exec(this.font)?.[1] ?? 12);
    const down = this.textBaseline === "middle" ? size * 0.35 : this.textBaseline === "top" ? size * 0.8 : 0;
    const weight = /\b(bold|[5-9]00)\b/.test(this.font) ? ' font-weight="600"' : "";
    this.parts.push(`<text x="${short(x + this.x)}" y="${short(y + this.y + down)}" font-size="${size}" text-anchor="${anchor}"${weight} ${this.#paint("fill")}>${escaped(text)}</text>`);
  }

  /** @param {string} text */
  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  /** @param {any} image @param {number[]} place */
  drawImage(image, ...place) {
    const [sx, sy, sw, sh, x, y, width, height] = place.length === 8 ? place : [0, 0, image.width, image.height, ...place];
    const cut = document.createElement("canvas");
    cut.width = Math.max(1, Math.round(sw));
    cut.height = Math.max(1, Math.round(sh));
    cut.getContext("2d")?.drawImage(image, sx, sy, sw, sh, 0, 0, cut.width, cut.height);
    this.parts.push(`<image ${this.#box(x, y, width, height)} preserveAspectRatio="none" style="image-rendering:pixelated" href="${cut.toDataURL("image/png")}"/>`);
  }

  /** @returns {string} */
  document() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="system-ui, sans-serif">${this.parts.join("")}</svg>`;
  }

  /** @param {"fill" | "stroke"} what */
  #paint(what) {
    const colour = what === "fill" ? this.fillStyle : this.strokeStyle;
    const told = typeof colour === "string" ? colour : "#8888";
    return `${what}="${escaped(told)}"${this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : ""}`;
  }

  #lines() {
    return ` stroke-width="${short(this.lineWidth)}"${this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}`;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  #box(x, y, width, height) {
    return `x="${short(x + this.x)}" y="${short(y + this.y)}" width="${short(Math.max(0, width))}" height="${short(Math.max(0, height))}"`;
  }
}
