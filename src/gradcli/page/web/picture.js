// Forward and Backward as one picture: values run along the edges, cotangents come back against them.

import {h, live, svg} from "./dom.js";
import {namesIn, termsOf} from "./language.js";
import {Unknown} from "./language.js";
import {labelText} from "./formula.js";
import {place} from "./layout.js";
import {arrayText, short} from "./numbers.js";
import {placeText} from "./answer.js";

const MOST_NODES = 40;
const MOST_ENTRIES = 8; // of y, and of all inputs, for a picture entry by entry
const LETTER = 7.4;
const NODE_HEIGHT = 62;
const NARROW = 620;
const SQUARE = 9; // of an array that is drawn as squares
const MOST_SQUARES = 8; // to each side

/** Return rows and columns of an array that is drawn as squares; null for one that is short enough as text. */
function squares({shape, data}) {
  const columns = shape.at(-1) ?? 1;
  const rows = columns ? data.length / columns : 0;
  return data.length > 3 && rows <= MOST_SQUARES && columns <= MOST_SQUARES ? {rows, columns} : null;
}

/** Return the nodes and edges of a program that names inner values: one node for each name. */
function ofNames(answer) {
  const {forward, reverse} = answer.document;
  const names = new Set(forward.map((value) => value.name));
  const edges = forward.flatMap((value) =>
    value.formula === null ? [] : [...namesIn(value.text ?? value.formula, names)].filter((name) => name !== value.name).map((name) => [name, value.name]));
  const shown = forward.filter((value) => edges.some((edge) => edge.includes(value.name)));
  const lines = new Map(reverse.map((line) => [line.name, line.formula]));
  const output = answer.output.name;
  const after = reach(edges);
  const before = reach(edges.map(([from, to]) => [to, from]));
  const through = (name) =>
    answer.jacobians.map((jacobian) => jacobian.name)
      .filter((input) => (input === name || after(input).has(name)) && (name === output || before(output).has(name)));
  return {
    names: shown.map((value) => value.name),
    nodes: new Map(shown.map(({name, role, shape}) => [name, {
      title: shape.length ? `${name} (${shape.join("×")})` : name,
      kind: role === "input" && !answer.document.inputs[name]?.differentiated ? "constant" : role,
      drawn: squares(answer.recorded.get(name)),
      valueNow: () => answer.values.get(name) ?? answer.recorded.get(name),
      gradNow: () => cotangentNow(answer, name),
      value: () => arrayText(answer.values.get(name) ?? answer.recorded.get(name), 3, 2),
      cotangent: () => gradText(answer, name),
      through: through(name),
    }])),
    edges: edges.map(([from, to]) => ({
      from, to,
      label: localDerivative(lines.get(from), to),
      through: through(from).filter((input) => through(to).includes(input)),
    })),
  };
}

/** Return nodes and edges entry by entry, for a program that names nothing between: its edges are the entries of J. */
function ofEntries(answer) {
  const {jacobians, output} = answer;
  const nodes = new Map();
  for (const jacobian of jacobians) {
    for (let column = 0; column < jacobian.width; column++) {
      nodes.set(jacobian.entryName(column), {
        title: jacobian.entryName(column), kind: "input", column: `${jacobian.name}:${column}`,
        value: () => short(answer.values.get(jacobian.name).data[column], 4),
        cotangent: () => (answer.trusted ? `grad ${short(answer.vjp(jacobian)[column], 4)}` : "grad ?"),
      });
    }
  }
  for (let row = 0; row < output.size; row++) {
    nodes.set(answer.rowName(row), {
      title: answer.rowName(row), kind: "output", row: String(row),
      value: () => short(answer.y.data[row], 4),
      cotangent: () => `v${placeText(row, output.shape)} = ${short(answer.v[row], 4)}`,
    });
  }
  const edges = jacobians.flatMap((jacobian) => jacobian.rows.map((row, k) => ({
    from: jacobian.entryName(jacobian.columns[k]), to: answer.rowName(row),
    row: String(row), column: `${jacobian.name}:${jacobian.columns[k]}`,
    label: () => (answer.trusted ? short(jacobian.values[k], 4) : "?"),
    weight: () => answer.term(jacobian, k),
  })));
  return {names: [...nodes.keys()], nodes, edges};
}

/** Return the cotangent of a value; null where it is not known at this v, undefined where there is none. */
function cotangentNow(answer, name) {
  const line = answer.lines.find((one) => one.name === name);
  if (!line) return undefined;
  if (!answer.trusted) return null;
  return answer.cotangents.get(name) ?? (answer.isMoved() ? null : line.recorded);
}

function gradText(answer, name) {
  const found = cotangentNow(answer, name);
  if (found === undefined) return "";
  return found === null ? "grad ?" : `grad ${arrayText(found, 3, 2)}`;
}

/** Return what comes after each node. */
function reach(edges) {
  const next = new Map();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  return (start) => {
    const found = new Set();
    const stack = [start];
    while (stack.length) {
      for (const to of next.get(stack.pop()) ?? []) {
        if (!found.has(to)) stack.push(to);
        found.add(to);
      }
    }
    return found;
  };
}

/** Return what the line of a cotangent adds for one child: "·(1 − h²)" for h.grad*(1 - h**2). */
function localDerivative(line, child) {
  if (!line) return "";
  try {
    const own = `${child}.grad`;
    const terms = termsOf(line).filter((term) => new RegExp(`(?<![\\w.])${child}\\.grad(?!\\w)`).test(term));
    const factors = terms.map((term) => (term === own ? "1" : term.startsWith(`${own}*`) ? term.slice(own.length + 1) : null));
    if (factors.includes(null)) return labelText(terms.join(" + "));
    return factors.length ? `·${labelText(factors.length > 1 ? `(${factors.join(" + ")})` : factors[0])}` : "";
  } catch (error) {
    if (error instanceof Unknown) return "";
    throw error;
  }
}

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
  const size = (name) => vertical ? {along: wide(name), across: high(name)} : {along: high(name), across: wide(name)};
  const longest = Math.max(4, ...graph.edges.map((edge) => textOf(edge.label).length));
  const gap = vertical ? 56 : Math.min(230, 40 + 6.4 * longest);
  const plan = place(graph.names, graph.edges.map(({from, to}) => [from, to]), size, () => gap, vertical ? 14 : 26);
  const at = (along, across) => (vertical ? [along, across] : [across, along]);
  const [w, tall] = vertical ? [plan.along, plan.across] : [plan.across, plan.along];
  const edges = graph.edges.map((edge, k) => edgeElement(edge, plan.chains[k], at, k, vertical));
  const nodes = graph.names.map((name) => nodeElement(graph.nodes.get(name), plan.nodes.get(name), at, vertical));
  const picture = svg("svg", {
    viewBox: `-6 -6 ${w + 12} ${tall + 12}`, class: "picture", role: "group",
    "aria-label": "the graph: values forward, cotangents back; Forward and Backward below say the same in words",
  }, svg("g", {}, ...edges.map(([line]) => line)), svg("g", {}, ...nodes), svg("g", {}, ...edges.map(([, label]) => label)));
  picture.style.maxWidth = `${Math.round((w + 12) * 1.25)}px`;
  return picture;
}

function edgeElement(edge, chain, at, number, vertical) {
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
  const share = number % 2 ? 0.38 : 0.62;
  const [[x0, y0], [x1, y1]] = [points[0], points[1]];
  const bend = share * share * (3 - 2 * share);
  const [x, y] = vertical ? [x0 + (x1 - x0) * bend, y0 + (y1 - y0) * share] : [x0 + (x1 - x0) * share, y0 + (y1 - y0) * bend];
  const label = svg("text", {class: "label", x, y: y + 4, ...about});
  live(() => {
    label.textContent = textOf(edge.label);
    if (edge.weight) line.classList.toggle("still", edge.weight() === 0);
  });
  return [line, label];
}

function nodeElement(node, planned, at, vertical) {
  const [x, y] = at(planned.start, planned.layer);
  const [w, tall] = vertical ? [planned.along, planned.across] : [planned.across, planned.along];
  const line = (k, kind) => svg("text", {class: kind, x: w / 2, y: 19 + 17 * k});
  const [title, value, cotangent] = [line(0, "name"), line(1, "value"), line(2, "cotangent")];
  title.textContent = node.title;
  const about = {"data-row": node.row, "data-column": node.column, "data-through": node.through?.join(" ")};
  const group = svg("g", {class: `node ${node.kind}`, transform: `translate(${x} ${y})`, role: "img", tabindex: "-1", ...about},
    svg("rect", {width: w, height: tall, rx: 8}), title, ...(node.drawn ? heats(node, w) : [value, cotangent]));
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
    svg("rect", {x: SQUARE * (k % columns), y: SQUARE * Math.floor(k / columns), width: SQUARE - 1, height: SQUARE - 1, rx: 1.5}));
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
  const {forward} = answer.document;
  const inner = forward.some((value) => value.role === "inner");
  const width = answer.jacobians.reduce((sum, jacobian) => sum + jacobian.width, 0);
  const byEntry = !inner && answer.output.size <= MOST_ENTRIES && width <= MOST_ENTRIES;
  const graph = byEntry ? ofEntries(answer) : ofNames(answer);
  if (graph.names.length > MOST_NODES) {
    return h("p", {class: "quiet"}, `The graph has ${graph.names.length} named values, too many for a picture; Forward and Backward list them.`);
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
