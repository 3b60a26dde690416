// Columns as the API sends them (docs/api.md): a head of JSON and plain arrays.

/** @typedef {Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array} Numbers */
/** @typedef {{head: any, arrays: Record<string, Numbers>}} Columns */

const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };

/** @param {ArrayBuffer} body @returns {Columns} */
export function unpacked(body) {
  const bytes = new Uint8Array(body, 0, 8);
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== "NCS1") throw new Error("these are no columns");
  const length = new DataView(body).getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 8, length)));
  /** @type {Record<string, Numbers>} */
  const arrays = {};
  for (const one of head.arrays) {
    const kind = KINDS[/** @type {keyof typeof KINDS} */ (one.type)];
    const count = one.shape.reduce((/** @type {number} */ all, /** @type {number} */ part) => all * part, 1);
    arrays[one.name] = new kind(body, one.offset, count);
  }
  return { head, arrays };
}
