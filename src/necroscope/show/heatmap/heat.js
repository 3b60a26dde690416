// Tells row, time and value of the cell below the pointer.
(function () {
  "use strict";
  const svg = document.currentScript?.closest("svg") ?? document.documentElement, data = svg.dataset;
  const rows = data.rows.split("|"), columns = +data.columns;
  const [left, top, width, height] = data.place.split(",").map(Number);
  const values = Uint8Array.from(atob(data.values), (char) => char.charCodeAt(0));
  const note = make("text", { class: "ink", x: left + width - 330, y: 26, "text-anchor": "end" });
  const frame = make("rect", { fill: "none", stroke: "#00e5ff", "stroke-width": 1.5, "pointer-events": "none" });
  for (const one of svg.querySelectorAll(".clear title")) one.remove(); // the note tells more

  function make(kind, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    svg.appendChild(made);
    return made;
  }

  svg.addEventListener("mousemove", function (event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const column = Math.floor((at.x - left) / width * columns);
    const row = Math.floor((at.y - top) / height * rows.length);
    const inside = column >= 0 && column < columns && row >= 0 && row < rows.length;
    frame.setAttribute("display", inside ? "" : "none");
    note.textContent = "";
    if (!inside) return;
    const value = values[row * columns + column];
    const time = new Date(+data.from + column * +data.column).toISOString().slice(11, 23).replace(".000", "");
    const share = value === 255 ? "not known" : (value * +data.scale * 100).toPrecision(3) + " %";
    note.textContent = rows[row] + " · " + time + " UTC · " + share;
    frame.setAttribute("x", left + column * width / columns);
    frame.setAttribute("y", top + row * height / rows.length);
    frame.setAttribute("width", width / columns);
    frame.setAttribute("height", height / rows.length);
  });
})();
