// Forward and Backward as one picture: values run along the edges, cotangents come back against them.

import {h, live, svg} from "./dom.js";
import {graphOf} from "./graph.js";
import {layersOf, place} from "./layout.js";

const MOST_NODES = 40;
const LETTER = 7.4;
const LABEL_LETTER = 6.9;
const NODE_HEIGHT = 62;
const NARROW = 620;
const SQUARE = 9; // of an array that is drawn as squares

const textOf = (label) => (typeof label === "function" ? label() : label);

/** Return the picture for a width in pixels, or null where it has too many nodes to be read. */
function draw(answer, graph, width) {
  const vertical = width < NARROW;
  const wide = (name) => {
    const {title, value, cotangent, drawn, gradNow} = graph.nodes.get(name);
    if (drawn) {
      const grids = gradNow() === undefined ? 1 : 2;
      return Math.max(64, 20 + LETTER * title.length, 28 + grids * SQUARE * drawn.columns);
    }
    return Math.max(64, 20 + LETTER * Math.max(title.length, value().length, cotangent().length));
  };
  const high = (name) => Math.max(NODE_HEIGHT, 34 + SQUARE * (graph.nodes.get(name).drawn?.rows ?? 0));
  const size = (name) => (vertical ? {along: wide(name), across: high(name)} : {along: high(name), across: wide(name)});
  const pairs = graph.edges.map(({from, to}) => [from, to]);
  const layer = layersOf(graph.names, pairs);
  const gap = (k) => {
    const labels = graph.edges.filter(({from}) => layer.get(from) === k).map((edge) => textOf(edge.label).length);
    return vertical ? 56 : 44 + LABEL_LETTER * Math.max(3, ...labels);
  };
  const plan = place(graph.names, pairs, size, gap, vertical ? 14 : 26);
  const at = (along, across) => (vertical ? [along, across] : [across, along]);
  const [w, tall] = vertical ? [plan.along, plan.across] : [plan.across, plan.along];
  const shareOf = ({from, to}, k) => {
    if (vertical) return [0.26, 0.5, 0.74][k % 3];
    const [out, into] = [pairs.filter(([start]) => start === from), pairs.filter(([, end]) => end === to)];
    return out.length > into.length ? 0.66 : into.length > 1 ? 0.34 : 0.5;
  };
  const edges = graph.edges.map((edge, k) => edgeElement(edge, plan.chains[k], at, shareOf(edge, k), vertical));
  const nodes = graph.names.map((name) => nodeElement(graph.nodes.get(name), plan.nodes.get(name), at, vertical));
  const drawing = svg(
    "svg",
    {
      viewBox: `-6 -6 ${w + 12} ${tall + 12}`,
      class: "picture",
      role: "group",
      "aria-label": "the graph: values forward, cotangents back; Forward and Backward below say the same in words",
    },
    svg("g", {}, ...edges.map(([line]) => line)),
    svg("g", {}, ...nodes),
    svg("g", {}, ...edges.map(([, label]) => label)),
  );
  drawing.style.maxWidth = `${Math.round((w + 12) * 1.5)}px`;
  return drawing;
}

/** Return the line of an edge and its label; `share` is how far along its first part the label stands. */
function edgeElement(edge, chain, at, share, vertical) {
  const points = [];
  chain.forEach((node, k) => {
    if (k > 0) points.push(at(node.middle, node.layer));
    if (k < chain.length - 1) points.push(at(node.middle, node.layer + (node.name === null ? node.deep : node.across)));
  });
  const parts = [`M${points[0]}`];
  for (let k = 1; k < points.length; k++) {
    const [[x0, y0], [x1, y1]] = [points[k - 1], points[k]];
    const [xm, ym] = [(x0 + x1) / 2, (y0 + y1) / 2];
    parts.push(vertical ? `C${x0} ${ym} ${x1} ${ym} ${x1} ${y1}` : `C${xm} ${y0} ${xm} ${y1} ${x1} ${y1}`);
  }
  const about = {"data-row": edge.row, "data-column": edge.column, "data-through": edge.through?.join(" ")};
  const line = svg("path", {class: "edge", d: parts.join(""), ...about});
  return [line, labelElement(edge, line, points, share, vertical, about)];
}

/** Return the text on an edge, on a plate of its own so that the line does not run through it. */
function labelElement(edge, line, [[x0, y0], [x1, y1]], wanted, vertical, about) {
  const half = vertical ? 0 : Math.min(0.5, (LABEL_LETTER * textOf(edge.label).length + 8) / 2 / (x1 - x0));
  const share = Math.min(Math.max(wanted, half), 1 - half); // so that the label covers no node
  const bend = share * share * (3 - 2 * share);
  const [along, across] = vertical ? [bend, share] : [share, bend];
  const [x, y] = [x0 + (x1 - x0) * along, y0 + (y1 - y0) * across];
  const plate = svg("rect", {class: "plate", y: -9, height: 18, rx: 4});
  const text = svg("text", {class: "label", y: 4, ...about});
  live(() => {
    text.textContent = textOf(edge.label);
    const wide = LABEL_LETTER * text.textContent.length + (text.textContent ? 8 : 0);
    plate.setAttribute("x", -wide / 2);
    plate.setAttribute("width", wide);
    if (edge.weight) line.classList.toggle("still", edge.weight() === 0);
  });
  return svg("g", {transform: `translate(${x} ${y})`}, plate, text);
}

function nodeElement(node, planned, at, vertical) {
  const [x, y] = at(planned.start, planned.layer);
  const [w, tall] = vertical ? [planned.along, planned.across] : [planned.across, planned.along];
  const line = (k, kind) => svg("text", {class: kind, x: w / 2, y: 19 + 17 * k});
  const [title, value, cotangent] = [line(0, "name"), line(1, "value"), line(2, "cotangent")];
  title.textContent = node.title;
  const about = {"data-row": node.row, "data-column": node.column, "data-through": node.through?.join(" ")};
  const group = svg(
    "g",
    {class: `node ${node.kind}`, transform: `translate(${x} ${y})`, role: "img", tabindex: "-1", ...about},
    svg("rect", {width: w, height: tall, rx: 8}),
    title,
    ...(node.drawn ? heats(node, w) : [value, cotangent]),
  );
  live(() => {
    value.textContent = node.value();
    cotangent.textContent = node.cotangent();
    group.setAttribute("aria-label", [node.title, node.value(), node.cotangent()].filter(Boolean).join(", "));
  });
  return group;
}

/** Return the squares of a value and, beside them, of its cotangent. */
function heats(node, width) {
  const {columns} = node.drawn;
  const both = node.gradNow() !== undefined;
  const whole = SQUARE * columns * (both ? 2 : 1) + (both ? 8 : 0);
  const left = (width - whole) / 2;
  const grids = [heat(node.drawn, node.valueNow, left, "heat")];
  if (both) grids.push(heat(node.drawn, node.gradNow, left + SQUARE * columns + 8, "heat back"));
  return grids;
}

/** Return a square for each entry, deeper the larger it is, in another colour below 0. */
function heat({rows, columns}, now, left, kind) {
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
  if (graph.names.length > MOST_NODES) {
    return h(
      "p",
      {class: "quiet"},
      `The graph has ${graph.names.length} named values, too many for a picture; Forward and Backward list them.`,
    );
  }
  const holder = h("div", {class: "holder"});
  let narrow = null;
  const fit = () => {
    const now = holder.clientWidth < NARROW;
    if (now === narrow || !holder.clientWidth) return;
    narrow = now;
    holder.replaceChildren(draw(answer, graph, holder.clientWidth));
    holder.querySelector(".node")?.setAttribute("tabindex", "0");
  };
  new ResizeObserver(fit).observe(holder);
  return holder;
}
