// The pointer on a picture: wheel and pinch zoom, dragging moves or draws a rectangle, resting reads.

/**
 * @typedef {object} Hands
 * @property {(x: number, y: number) => "rectangle" | "pan" | "small" | "none"} kind what dragging does there
 * @property {(from: {x: number, y: number}, to: {x: number, y: number}, baseline: boolean, done: boolean) => void} rectangle
 * @property {(dx: number, at: number, small: boolean) => void} pan
 * @property {(factor: number, x: number) => void} zoom
 * @property {(x: number, y: number, event: PointerEvent) => void} click
 * @property {(x: number, y: number) => void} twice
 * @property {(x: number, y: number) => void} rest
 * @property {() => void} leave
 * @property {() => boolean} selecting whether a finger draws rectangles
 */

/** @param {HTMLCanvasElement} canvas @param {Hands} hands */
export function pointer(canvas, hands) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  /** @type {{x: number, y: number, kind: string, baseline: boolean, moved: boolean} | null} */
  let drag = null;
  let apart = 0;

  const place = (/** @type {PointerEvent | WheelEvent | MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = place(event);
    down.set(event.pointerId, at);
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 2) {
      drag = null;
      apart = distance(down);
      return;
    }
    let kind = hands.kind(at.x, at.y);
    if (kind === "rectangle" && event.pointerType === "touch" && !hands.selecting()) kind = "pan";
    drag = { ...at, kind, baseline: event.shiftKey || event.altKey, moved: false };
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (!down.size) {
      hands.rest(at.x, at.y);
      return;
    }
    const before = down.get(event.pointerId);
    down.set(event.pointerId, at);
    if (down.size === 2 && apart) {
      const now = distance(down);
      const [one, other] = [...down.values()];
      hands.zoom(apart / Math.max(1, now), (one.x + other.x) / 2);
      apart = now;
      return;
    }
    if (!drag || !before) return;
    if (!drag.moved && Math.hypot(at.x - drag.x, at.y - drag.y) < 4) return;
    drag.moved = true;
    if (drag.kind === "rectangle") hands.rectangle(drag, at, drag.baseline, false);
    else if (drag.kind !== "none") hands.pan(at.x - before.x, at.x, drag.kind === "small");
  });

  const up = (/** @type {PointerEvent} */ event) => {
    down.delete(event.pointerId);
    apart = 0;
    if (!drag) return;
    const at = place(event);
    if (drag.moved && drag.kind === "rectangle") hands.rectangle(drag, at, drag.baseline, true);
    else if (!drag.moved && event.type === "pointerup") hands.click(at.x, at.y, event);
    drag = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => !down.size && hands.leave());
  canvas.addEventListener("dblclick", (event) => {
    const at = place(event);
    hands.twice(at.x, at.y);
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      const at = place(event);
      const kind = hands.kind(at.x, at.y);
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      // Over lines below the map, the wheel goes on moving the page.
      if (kind === "none" || (kind === "pan" && !sideways && !event.ctrlKey)) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 16 : 1;
      if (sideways) hands.pan(-(event.deltaX || event.deltaY) * unit, at.x, false);
      else hands.zoom(Math.exp(Math.max(-240, Math.min(240, event.deltaY * unit)) / 300), at.x);
    },
    { passive: false },
  );
}

/** @param {Map<number, {x: number, y: number}>} down */
function distance(down) {
  const [one, other] = [...down.values()];
  return Math.hypot(one.x - other.x, one.y - other.y);
}
