// Zoom by a click, out by a click on an outer box or Escape; search with / or Ctrl-F. Works on the drawn boxes alone.
(function () {
  "use strict";
  const svg = document.currentScript?.closest("svg") ?? document.documentElement;
  const left = +svg.dataset.left, inner = +svg.dataset.inner, whole = +svg.dataset.cores;
  const boxes = [...svg.querySelectorAll("g.b")].map(function (group) {
    const rect = group.querySelector("rect"), text = group.querySelector("text");
    const title = group.querySelector("title").textContent;
    return { group, rect, text, title, x: +rect.getAttribute("x"), w: +rect.getAttribute("width"),
             y: +rect.getAttribute("y"), h: +rect.getAttribute("height"), name: name(title, text) };
  });
  const axis = [...svg.querySelectorAll("line.line, text[font-size='11']")].filter((one) => !one.closest("g"));
  const note = label(...svg.dataset.note.split(","), "end");
  const hint = "click: zoom · /: search";
  let found = "";
  note.setAttribute("class", "dim");
  note.textContent = hint;

  function name(title, text) {
    const sign = text && /^[+-]/.test(text.textContent) ? text.textContent[0] : "";
    return sign + title.replace(/( \([^()]*\))?: [-\d.]+ cores.*$/, "");
  }

  function label(x, y, anchor) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "text");
    made.setAttribute("x", x);
    made.setAttribute("y", y);
    made.setAttribute("class", "ink");
    made.setAttribute("text-anchor", anchor);
    svg.appendChild(made);
    return made;
  }

  function fit(box, width) {
    const room = Math.floor((width - 6) / 7.32);
    if (!box.text) {
      box.text = label(0, box.y + box.h / 2 + 4, "start");
      box.text.setAttribute("class", "on");
      box.group.appendChild(box.text);
    }
    box.text.textContent = box.name.length <= room ? box.name : room >= 3 ? box.name.slice(0, room - 1) + "…" : "";
  }

  function zoom(to) {
    const scale = inner / to.w;
    for (const box of boxes) {
      const x0 = Math.max(left, left + (box.x - to.x) * scale);
      const x1 = Math.min(left + inner, left + (box.x + box.w - to.x) * scale);
      const shown = x1 - x0 > 0.5;
      box.group.style.display = shown ? "" : "none";
      if (!shown) continue;
      box.rect.setAttribute("x", x0);
      box.rect.setAttribute("width", x1 - x0);
      box.rect.style.opacity = box.y < to.y ? 0.5 : "";
      fit(box, x1 - x0);
      box.text.setAttribute("x", x0 + 3);
    }
    const out = scale < 1.0001;
    for (const one of axis) one.style.display = out ? "" : "none";
    note.textContent = out ? hint : "zoomed to " + (whole * to.w / inner).toPrecision(3) + " cores; Escape goes back";
  }

  function search() {
    const asked = window.prompt("Part of a name, or nothing to end the search", found);
    if (asked === null) return;
    found = asked;
    let sum = 0, until = -1;
    const hits = boxes.filter((box) => found && box.name.toLowerCase().includes(found.toLowerCase()));
    for (const box of boxes) box.rect.style.fill = hits.includes(box) ? "#ffe600" : "";
    for (const box of [...hits].sort((a, b) => a.x - b.x || a.y - b.y)) {
      if (box.x + 0.01 < until) continue; // below another hit, which has it already
      sum += box.w;
      until = box.x + box.w;
    }
    const summary = hits.length + " boxes, " + (whole * sum / inner).toPrecision(3) + " cores";
    note.textContent = found ? summary + ' match "' + found + '"' : hint;
  }

  for (const box of boxes) {
    box.group.style.cursor = "pointer";
    box.group.addEventListener("click", () => zoom(box));
  }
  window.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && boxes.length) zoom({ x: left, w: inner, y: -1 });
    if (event.key === "/" || (event.key === "f" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      search();
    }
  });
})();
