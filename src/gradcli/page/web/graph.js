// What the picture shows: nodes and edges, by the names of the program or entry by entry.

import {Unknown, namesIn, termsOf} from "./language.js";
import {labelText} from "./formula.js";
import {arrayText, counted, short} from "./numbers.js";
import {placeText} from "./jacobian.js";

const MOST_SQUARES = 8; // to each side
const MOST_ENTRIES = 8; // of y, and of all inputs, for a picture entry by entry
/** Return rows and columns of an array that is drawn as squares; null for one that is short enough as text. */
function squares({shape, data}) {
  const columns = shape.at(-1) ?? 1;
  const rows = columns ? data.length / columns : 0;
  return data.length > 3 && rows <= MOST_SQUARES && columns <= MOST_SQUARES ? {rows, columns} : null;
}

/** Return an array in the room of a node. */
const briefly = (array) =>
  array.shape.length > 1 && array.data.length > 3 ? `${counted(array.data.length)} numbers` : arrayText(array, 3, 2);

/** Return the nodes and edges of a program that names inner values: one node for each name. */
function ofNames(answer) {
  const {forward, reverse} = answer.document;
  const names = new Set(forward.map((value) => value.name));
  const edges = forward.flatMap((value) =>
    value.formula === null
      ? []
      : [...namesIn(value.text ?? value.formula, names)]
          .filter((name) => name !== value.name)
          .map((name) => [name, value.name]),
  );
  const shown = forward.filter((value) => edges.some((edge) => edge.includes(value.name)));
  const lines = new Map(reverse.map((line) => [line.name, line.formula]));
  const output = answer.output.name;
  const after = reach(edges);
  const before = reach(edges.map(([from, to]) => [to, from]));
  const through = (name) =>
    answer.jacobians
      .map((jacobian) => jacobian.name)
      .filter((input) => (input === name || after(input).has(name)) && (name === output || before(output).has(name)));
  return {
    names: shown.map((value) => value.name),
    nodes: new Map(
      shown.map(({name, role, shape}) => [
        name,
        {
          title: shape.length ? `${name} (${shape.join("×")})` : name,
          kind: role === "input" && !answer.document.inputs[name]?.differentiated ? "constant" : role,
          drawn: squares(answer.recorded.get(name)),
          valueNow: () => answer.values.get(name) ?? answer.recorded.get(name),
          gradNow: () => cotangentNow(answer, name),
          value: () => briefly(answer.values.get(name) ?? answer.recorded.get(name)),
          cotangent: () => gradText(answer, name),
          through: through(name),
        },
      ]),
    ),
    edges: edges.map(([from, to]) => ({
      from,
      to,
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
        title: jacobian.entryName(column),
        kind: "input",
        column: `${jacobian.name}:${column}`,
        value: () => short(answer.values.get(jacobian.name).data[column], 4),
        cotangent: () => (answer.trusted ? `grad ${short(answer.vjp(jacobian)[column], 4)}` : "grad ?"),
      });
    }
  }
  for (let row = 0; row < output.size; row++) {
    nodes.set(answer.rowName(row), {
      title: answer.rowName(row),
      kind: "output",
      row: String(row),
      value: () => short(answer.y.data[row], 4),
      cotangent: () => `v${placeText(row, output.shape)} = ${short(answer.v[row], 4)}`,
    });
  }
  const edges = jacobians.flatMap((jacobian) =>
    jacobian.rows.map((row, k) => ({
      from: jacobian.entryName(jacobian.columns[k]),
      to: answer.rowName(row),
      row: String(row),
      column: `${jacobian.name}:${jacobian.columns[k]}`,
      label: () => (answer.trusted ? short(jacobian.values[k], 4) : "?"),
      weight: () => answer.term(jacobian, k),
    })),
  );
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
  return found === null ? "grad ?" : `grad ${briefly(found)}`;
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
    const factors = terms.map((term) =>
      term === own ? "1" : term.startsWith(`${own}*`) ? term.slice(own.length + 1) : null,
    );
    if (factors.includes(null)) return labelText(terms.join(" + "));
    return factors.length ? `·${labelText(factors.length > 1 ? `(${factors.join(" + ")})` : factors[0])}` : "";
  } catch (error) {
    if (error instanceof Unknown) return "";
    throw error;
  }
}

/**
 * Return the nodes and edges of an answer.
 *
 * A node has a title, a kind, and texts of its value and its cotangent; an edge has the derivative along it.
 */
export function graphOf(answer) {
  const inner = answer.document.forward.some((value) => value.role === "inner");
  const width = answer.jacobians.reduce((sum, jacobian) => sum + jacobian.width, 0);
  const byEntry = !inner && answer.output.size <= MOST_ENTRIES && width <= MOST_ENTRIES;
  return byEntry ? ofEntries(answer) : ofNames(answer);
}
