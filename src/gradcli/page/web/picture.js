// Forward and Backward as one picture: values run along the edges, cotangents come back against them.

import {h, live, svg} from "./dom.js";
import {graphOf} from "./graph.js";

const LETTER = 7.4;
const LABEL_LETTER = 6.9;
const NARROW = 620;
const SQUARE = 9; // of an array that is drawn as squares
const EDGE = 12; // what a box keeps free beside its texts

/** Return the picture for a screen that is narrow or wide. */
function draw(graph, isNarrow) {
  const plan = isNarrow ? graph.tall : graph.wide;
  const edges = graph.edges.map((edge, k) => edgeElements(edge, plan.edges[k], isNarrow));
  const boxes = graph.boxes.map((box, k) => boxElement(box, plan.boxes[k]));
  const [w, tall] = plan.size;
  const drawing = svg(
    "svg",
    {
      viewBox: `-6 -6 ${w + 12} ${tall + 12}`,
      class: "picture",
      role: "group",
      "aria-label": "the graph: values forward, cotangents back; Forward and Backward below say the same in words",
    },
    svg("g", {}, ...edges.map(([line]) => line)),
    svg("g", {}, ...boxes),
    svg("g", {}, ...edges.map(([, label]) => label)),
  );
  drawing.style.maxWidth = `${Math.round((w + 12) * 1.5)}px`;
  return drawing;
}

const aboutOf = ({row, column, through}) => ({
  "data-row": row,
  "data-column": column,
  "data-through": through?.join(" "),
});

/** Return the line of an edge, and the text on it on a plate of its own so that the line does not run through it. */
function edgeElements(edge, {stops, label: [x, y]}, isNarrow) {
  const parts = stops.map(([x1, y1], k) => {
    if (!k) return `M${x1} ${y1}`;
    const [x0, y0] = stops[k - 1];
    const [xm, ym] = [(x0 + x1) / 2, (y0 + y1) / 2];
    return isNarrow ? `C${x0} ${ym} ${x1} ${ym} ${x1} ${y1}` : `C${xm} ${y0} ${xm} ${y1} ${x1} ${y1}`;
  });
  const line = svg("path", {class: edge.flows ? "edge" : "edge still", d: parts.join(""), ...aboutOf(edge)});
  const plate = svg("rect", {class: "plate", y: -9, height: 18, rx: 4});
  const text = svg("text", {class: "label", y: 4, ...aboutOf(edge)});
  live(() => {
    text.textContent = edge.label(isNarrow);
    const wide = LABEL_LETTER * text.textContent.length + (text.textContent ? 8 : 0);
    plate.setAttribute("x", -wide / 2);
    plate.setAttribute("width", wide);
    if (edge.weight) line.classList.toggle("still", edge.weight() === 0);
  });
  return [line, svg("g", {transform: `translate(${x} ${y})`}, plate, text)];
}

function boxElement(box, [x, y, w, tall]) {
  const line = (k, kind) => svg("text", {class: kind, x: w / 2, y: 19 + 17 * k});
  const [title, value, cotangent] = [line(0, "name"), line(1, "value"), line(2, "cotangent")];
  title.textContent = box.title;
  const group = svg(
    "g",
    {class: `node ${box.role}`, transform: `translate(${x} ${y})`, role: "img", tabindex: "-1", ...aboutOf(box)},
    svg("rect", {width: w, height: tall, rx: 8}),
    title,
    ...(box.squares ? heats(box, w) : [value, cotangent]),
  );
  live(() => {
    fit(value, box.value(), w - EDGE);
    fit(cotangent, box.cotangent(), w - EDGE);
    group.setAttribute("aria-label", [box.title, box.value(), box.cotangent()].filter(Boolean).join(", "));
  });
  return group;
}

/** Write a text, narrower where it would not fit. */
function fit(node, text, width) {
  node.textContent = text;
  node.toggleAttribute("textLength", false);
  if (text.length * LETTER <= width) return;
  node.setAttribute("textLength", width);
  node.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

/** Return the squares of a value and, beside them, of its cotangent. */
function heats(node, width) {
  const [rows, columns] = node.squares;
  const both = node.gradNow() !== undefined;
  const whole = SQUARE * columns * (both ? 2 : 1) + (both ? 8 : 0);
  const left = (width - whole) / 2;
  const grids = [heat(rows, columns, node.valueNow, left, "heat")];
  if (both) grids.push(heat(rows, columns, node.gradNow, left + SQUARE * columns + 8, "heat back"));
  return grids;
}

/** Return a square for each entry, deeper the larger it is, in another colour below 0. */
function heat(rows, columns, now, left, kind) {
  const parts = Array.from({length: rows * columns}, (_, k) =>
    svg("rect", {
      x: SQUARE * (k % columns),
      y: SQUARE * Math.floor(k / columns),
      width: SQUARE - 1,
      height: SQUARE - 1,
      rx: 1.5,
    }),
  );
  live(() => {
    const data = now()?.data ?? [];
    const largest = Math.max(...data.filter(Number.isFinite).map(Math.abs), 1e-300);
    parts.forEach((part, k) => {
      const share = Number.isFinite(data[k]) ? Math.abs(data[k]) / largest : 0;
      part.setAttribute("opacity", 0.12 + 0.88 * share);
      part.classList.toggle("negative", data[k] < 0);
    });
  });
  return svg("g", {class: kind, transform: `translate(${left} 28)`}, ...parts);
}

/** Return the picture of the graph, which is drawn again where its room changes. */
export function picture(answer) {
  const graph = graphOf(answer);
  if (!graph) {
    return h("p", {class: "quiet"}, "The graph has too many values for a picture; Forward and Backward list them.");
  }
  const holder = h("div", {class: "holder"});
  let narrow = null;
  const redraw = () => {
    const now = holder.clientWidth < NARROW;
    if (now === narrow || !holder.clientWidth) return;
    narrow = now;
    holder.replaceChildren(draw(graph, narrow));
    holder.querySelector(".node")?.setAttribute("tabindex", "0");
  };
  new ResizeObserver(redraw).observe(holder);
  return holder;
}
