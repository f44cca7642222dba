// One Jacobian as the document has it, dense or by its entries, and how entries are called.

import {arrayOf, sizeOf} from "./arrays.js";

/** Return the indices of an entry, given its place in flat order: "[0,1]", and "" for a single number. */
export function placeText(place, shape) {
  if (!shape.length) return "";
  const index = [];
  for (let k = shape.length - 1, rest = place; k >= 0; k--) {
    index.unshift(rest % shape[k]);
    rest = Math.floor(rest / shape[k]);
  }
  return `[${index.join(",")}]`;
}

/** Return the entries of J that can be non-zero, in order of rows: where each stands, its value and its formula. */
function entriesOf(jacobian, height, width) {
  if (jacobian.entries) {
    const {rows, columns, values} = jacobian.entries;
    return {rows, columns, values: values.map(Number), formulas: null};
  }
  const values = arrayOf(jacobian.numeric, jacobian.shape).data;
  const formulas = jacobian.symbolic === null ? null : [jacobian.symbolic].flat(Infinity);
  const kept = values.map((_, k) => k).filter((k) => (formulas ? formulas[k] !== "0" : values[k] !== 0));
  const within = height * width > 0 ? kept : [];
  return {
    rows: within.map((k) => Math.floor(k / width)),
    columns: within.map((k) => k % width),
    values: within.map((k) => values[k]),
    formulas: formulas && within.map((k) => formulas[k]),
  };
}

function grouped(places, length) {
  const groups = Array.from({length}, () => []);
  places.forEach((place, k) => groups[place].push(k));
  return groups;
}

/** One Jacobian, ∂y/∂name, with its entries listed by row and by column. */
export class Jacobian {
  constructor(name, input, document, height) {
    this.name = name;
    this.shape = input.shape;
    this.height = height;
    this.width = sizeOf(input.shape);
    this.structure = document.structure;
    this.passes = document.passes;
    this.rules = document.rules ?? document.entries?.formulas ?? [];
    this.definitions = document.definitions;
    Object.assign(this, entriesOf(document, height, this.width));
  }

  /** The numbers of the entries of each row; few pages ask, and a large J would take long. */
  get inRow() {
    this.byRow ??= grouped(this.rows, this.height);
    return this.byRow;
  }

  /** The numbers of the entries of each column. */
  get inColumn() {
    this.byColumn ??= grouped(this.columns, this.width);
    return this.byColumn;
  }

  /** Return the name of an entry of the input: "W[0,1]". */
  entryName(column) {
    return this.name + placeText(column, this.shape);
  }
}
