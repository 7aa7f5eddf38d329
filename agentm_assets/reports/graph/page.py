"""The graph as a page to explore: the picture with a small script in it and nothing from elsewhere.

Zoom with the wheel, drag to move, point at a note to see what it is linked with, search by words.
"""

from agentm_assets.reports.graph.layout import Place
from agentm_assets.reports.graph.model import MemoryGraph
from agentm_assets.reports.graph.svg import draw, said


def page(graph: MemoryGraph, places: tuple[Place, ...]) -> str:
    """The page. A browser is told to load and run nothing but what stands in it."""
    return (
        "<!doctype html>\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Memory graph</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        '<header><h1>Memory graph</h1><label>Find <input id="find" type="search" '
        'autocomplete="off" placeholder="title or path"></label>'
        '<button id="whole" type="button">Whole graph</button>'
        f'<p id="said">{said(graph)}</p></header>\n'
        f'<main>\n{draw(graph, places)}</main>\n<aside id="about" hidden></aside>\n'
        f"<script>\n{_SCRIPT}</script>\n</body>\n</html>\n"
    )


_STYLE = (
    "html,body{height:100%;margin:0;font:14px/1.4 system-ui,sans-serif;color:#1d2329;"
    "background:#fbfbf9}"
    "body{display:flex;flex-direction:column}"
    "header{display:flex;gap:16px;align-items:center;flex-wrap:wrap;padding:8px 16px;"
    "border-bottom:1px solid #d9dde1}"
    "h1{font-size:16px;margin:0}#said{margin:0;color:#5b6573}"
    "input{font:inherit;padding:3px 6px;width:18em}button{font:inherit}"
    "main{flex:1;min-height:0}main svg{width:100%;height:100%;display:block;cursor:grab;"
    "touch-action:none}.notes circle{cursor:pointer}.said{display:none}"
    ".faded{opacity:.12}.lit line.on{stroke:#39424c;stroke-opacity:.8;stroke-width:1.5}"
    ".lit line:not(.on){stroke-opacity:.05}"
    "#about{position:fixed;right:16px;top:64px;width:min(24em,80vw);max-height:70vh;overflow:auto;"
    "background:#fff;border:1px solid #c9ced4;border-radius:6px;padding:10px 14px;"
    "box-shadow:0 2px 10px #0002}#about h2{font-size:15px;margin:0 0 4px}"
    "#about code{font-size:12px;overflow-wrap:anywhere;color:#5b6573}"
    "#about ul{margin:8px 0 0;padding-left:18px}#about li{cursor:pointer}"
)

_SCRIPT = """\
"use strict";
const svg = document.querySelector("main svg");
const notes = [...svg.querySelectorAll(".notes circle")];
const names = [...svg.querySelectorAll(".names text")];
const lines = [...svg.querySelectorAll(".links line")];
const beside = notes.map(() => []);
for (const line of lines) {
  const a = +line.dataset.a, b = +line.dataset.b;
  beside[a].push([b, line]);
  beside[b].push([a, line]);
}
const about = document.getElementById("about");
const find = document.getElementById("find");
const whole = svg.viewBox.baseVal;
const all = [whole.x, whole.y, whole.width, whole.height];
let view = [...all], chosen = null;

function show() { svg.setAttribute("viewBox", view.map(n => n.toFixed(2)).join(" ")); }
function at(event) {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform(svg.getScreenCTM().inverse());
}
function light(wanted, lit) {
  svg.classList.toggle("lit", wanted !== null);
  notes.forEach((note, n) => note.classList.toggle("faded", wanted !== null && !wanted.has(n)));
  names.forEach(name =>
    name.classList.toggle("faded", wanted !== null && !wanted.has(+name.dataset.n)));
  lines.forEach(line => line.classList.toggle("on", lit.has(line)));
}
function around(n) {
  light(new Set([n, ...beside[n].map(pair => pair[0])]), new Set(beside[n].map(pair => pair[1])));
}
function rest() {
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
  if (chosen !== null) return around(chosen);
  if (!words.length) return light(null, new Set());
  const hit = new Set();
  notes.forEach((note, n) => {
    const text = (note.dataset.title + " " + note.dataset.path).toLowerCase();
    if (words.every(word => text.includes(word))) hit.add(n);
  });
  light(hit, new Set());
}
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
function choose(n) {
  chosen = n;
  about.hidden = n === null;
  about.replaceChildren();
  if (n !== null) {
    const data = notes[n].dataset;
    about.append(element("h2", data.title), element("code", data.path));
    about.append(element("p", notes[n].getAttribute("class").split(" ")[0] + ", links: " +
      data.degree + (beside[n].length < +data.degree ? ", shown here: " + beside[n].length : "")));
    const list = document.createElement("ul");
    for (const other of [...new Set(beside[n].map(pair => pair[0]))]) {
      const item = element("li", notes[other].dataset.title);
      item.addEventListener("click", () => choose(other));
      list.append(item);
    }
    about.append(list);
  }
  rest();
}
notes.forEach((note, n) => {
  note.addEventListener("pointerenter", () => { if (chosen === null) around(n); });
  note.addEventListener("pointerleave", () => { if (chosen === null) rest(); });
});
find.addEventListener("input", () => { chosen = null; about.hidden = true; rest(); });
document.getElementById("whole").addEventListener("click", () => {
  view = [...all]; find.value = ""; choose(null); show();
});
addEventListener("keydown", event => { if (event.key === "Escape") choose(null); });
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const point = at(event), by = Math.exp(event.deltaY * 0.0015);
  const width = Math.min(all[2] * 2, Math.max(60, view[2] * by)), scale = width / view[2];
  view = [point.x - (point.x - view[0]) * scale, point.y - (point.y - view[1]) * scale,
    width, view[3] * scale];
  show();
}, { passive: false });
let from = null, moved = false;
svg.addEventListener("pointerdown", event => {
  from = { point: at(event), x: event.clientX, y: event.clientY, on: event.target };
  moved = false;
});
svg.addEventListener("pointermove", event => {
  if (from === null) return;
  if (Math.abs(event.clientX - from.x) + Math.abs(event.clientY - from.y) > 4) moved = true;
  if (!moved) return;
  const here = at(event);
  view[0] += from.point.x - here.x;
  view[1] += from.point.y - here.y;
  show();
});
addEventListener("pointerup", () => {
  if (from !== null && !moved) {
    const n = notes.indexOf(from.on);
    choose(n < 0 ? null : n);
  }
  from = null;
});
"""
