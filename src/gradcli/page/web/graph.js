// What the picture shows of the answer as it is now. Its boxes and edges are those of `-o graph.svg`, and so is where
// they stand; their numbers follow v and the inputs.

import {labelText} from "./formula.js";
import {placeText} from "./jacobian.js";
import {arrayText, counted, short} from "./numbers.js";

/** Return an array in the room of a box. */
const briefly = (array) =>
  array.shape.length > 1 && array.data.length > 3 ? `${counted(array.data.length)} numbers` : arrayText(array, 3, 2);

/** Return what a box shows that stands for a value of the program. */
function ofValue(answer, name) {
  const valueNow = () => answer.values.get(name) ?? answer.recorded.get(name);
  const gradNow = () => cotangentNow(answer, name);
  return {
    valueNow,
    gradNow,
    value: () => (valueNow() ? briefly(valueNow()) : ""),
    cotangent: () => {
      const found = gradNow();
      if (found === undefined) return "";
      return found === null ? "grad ?" : `grad ${briefly(found)}`;
    },
  };
}

/** Return what a box shows that stands for an entry of y or of an input. */
function ofEntry(answer, [name, place]) {
  const {output} = answer;
  const jacobian = answer.jacobians.find((one) => one.name === name);
  if (!jacobian) {
    return {
      row: String(place),
      value: () => short(answer.y.data[place], 4),
      cotangent: () => `v${placeText(place, output.shape)} = ${short(answer.v[place], 4)}`,
    };
  }
  return {
    column: `${name}:${place}`,
    value: () => short(answer.values.get(name).data[place], 4),
    cotangent: () => (answer.trusted ? `grad ${short(answer.vjp(jacobian)[place], 4)}` : "grad ?"),
  };
}

/** Return what an edge shows that stands for an entry of J. */
function ofDerivative(answer, text, [name, column], [, row]) {
  const jacobian = answer.jacobians.find((one) => one.name === name);
  const k = jacobian.inRow[row].find((entry) => jacobian.columns[entry] === column);
  const number = () => (answer.trusted ? short(jacobian.values[k], 4) : "?");
  const formula = text && Number.isNaN(Number(text)) ? `${labelText(text, 18)} = ` : "";
  return {
    row: String(row),
    column: `${name}:${column}`,
    label: (isNarrow) => (isNarrow ? number() : formula + number()),
    weight: () => answer.term(jacobian, k),
  };
}

/** Return the cotangent of a value; null where it is not known at this v, undefined where there is none. */
function cotangentNow(answer, name) {
  const line = answer.lines.find((one) => one.name === name);
  if (!line) return undefined;
  if (!answer.trusted) return null;
  return answer.cotangents.get(name) ?? (answer.isMoved() ? null : line.recorded);
}

/** Return what comes after each box, itself included. */
function reach(edges) {
  const next = new Map();
  for (const {from, to} of edges) next.set(from, [...(next.get(from) ?? []), to]);
  return (start) => {
    const found = new Set();
    const stack = [start];
    while (stack.length) {
      const name = stack.pop();
      if (!found.has(name)) stack.push(...(next.get(name) ?? []));
      found.add(name);
    }
    return found;
  };
}

/** Return the boxes and edges of an answer, with what they show now; null where they are too many. */
export function graphOf(answer) {
  const {graph} = answer.document;
  if (!graph) return null;
  const after = reach(graph.edges);
  const output = graph.boxes.at(-1).name;
  const through = (name) =>
    answer.jacobians.map((one) => one.name).filter((input) => after(input).has(name) && after(name).has(output));
  const boxes = graph.boxes.map((box) =>
    box.entry
      ? {...box, ...ofEntry(answer, box.entry)}
      : {...box, ...ofValue(answer, box.name), through: through(box.name)},
  );
  const named = new Map(boxes.map((box) => [box.name, box]));
  const edges = graph.edges.map((edge) => {
    const [from, to] = [named.get(edge.from), named.get(edge.to)];
    return from.entry
      ? {...edge, ...ofDerivative(answer, edge.text, from.entry, to.entry)}
      : {
          ...edge,
          label: () => labelText(edge.text),
          through: from.through.filter((input) => to.through.includes(input)),
        };
  });
  return {boxes, edges, wide: graph.wide, tall: graph.tall};
}
