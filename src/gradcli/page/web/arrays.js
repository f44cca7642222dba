// Arrays of numbers as NumPy has them.
//
// An array is {shape: [2, 3], data: [...]}, row-major; a single number has the shape [].

import {Unknown} from "./language.js";

export const sizeOf = (shape) => shape.reduce((product, length) => product * length, 1);
export const scalar = (value) => ({shape: [], data: [value]});
const same = (a, b) => a.length === b.length && a.every((length, k) => length === b[k]);

/** Return nested lists of strict JSON numbers ("NaN" and "Infinity" are strings there) as an array. */
export function arrayOf(nested, shape) {
  const flat = [];
  const stack = [nested];
  while (stack.length) {
    const top = stack.pop();
    if (Array.isArray(top)) for (let k = top.length - 1; k >= 0; k--) stack.push(top[k]);
    else flat.push(Number(top));
  }
  return {shape, data: flat};
}

function strides(shape) {
  const found = new Array(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; k--) found[k] = found[k + 1] * shape[k + 1];
  return found;
}

/** Return an array by a function of the indices of each entry. */
export function build(shape, entry) {
  const data = new Array(sizeOf(shape));
  const index = new Array(shape.length).fill(0);
  for (let place = 0; place < data.length; place++) {
    data[place] = entry(index);
    for (let k = shape.length - 1; k >= 0 && ++index[k] === shape[k]; k--) index[k] = 0;
  }
  return {shape, data};
}

function broadcastShape(shapes) {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({length: rank}, (_, k) => {
    const lengths = shapes.map((shape) => shape[k - rank + shape.length] ?? 1);
    const long = lengths.filter((length) => length !== 1);
    if (long.some((length) => length !== long[0])) throw new Unknown("shapes that do not fit together");
    return long[0] ?? 1;
  });
}

/** Return an array repeated to a shape. */
export function broadcast(array, shape) {
  if (same(array.shape, shape)) return array;
  const own = strides(array.shape);
  const missing = shape.length - array.shape.length;
  if (missing < 0) throw new Unknown("shapes that do not fit together");
  return build(shape, (index) => {
    let place = 0;
    for (let k = 0; k < own.length; k++) if (array.shape[k] !== 1) place += own[k] * index[k + missing];
    return array.data[place];
  });
}

export function elementwise(f, ...arrays) {
  if (arrays.length === 1) return {shape: arrays[0].shape, data: arrays[0].data.map((a) => f(a))};
  const shape = broadcastShape(arrays.map((array) => array.shape));
  const all = arrays.map((array) => broadcast(array, shape).data);
  return {shape, data: Array.from({length: sizeOf(shape)}, (_, k) => f(...all.map((data) => data[k])))};
}

export function transposed(a) {
  if (a.shape.length < 2) return a;
  if (a.shape.length > 2) throw new Unknown("a transpose of more than two axes");
  const [rows, columns] = a.shape;
  return build([columns, rows], ([i, j]) => a.data[j * columns + i]);
}

export function matmul(a, b) {
  const [p, q] = [a.shape.length, b.shape.length];
  if (p < 1 || q < 1 || p > 2 || q > 2) throw new Unknown("a product of arrays with more than two axes");
  const [n, inner, m] = [p === 2 ? a.shape[0] : 1, a.shape[p - 1], q === 2 ? b.shape[1] : 1];
  if (b.shape[0] !== inner) throw new Unknown("shapes that do not fit together");
  const data = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += a.data[i * inner + k] * b.data[k * m + j];
      data.push(sum);
    }
  }
  return {shape: [...(p === 2 ? [n] : []), ...(q === 2 ? [m] : [])], data};
}

/** Return the array with one axis, or all of them, taken together by a function of a list. */
export function reduce(f, a, axis, keep) {
  if (axis === null) return {shape: keep ? a.shape.map(() => 1) : [], data: [f(a.data)]};
  const k = axis < 0 ? axis + a.shape.length : axis;
  if (!(k >= 0 && k < a.shape.length)) throw new Unknown("an axis that is not there");
  const step = strides(a.shape)[k];
  const length = a.shape[k];
  const kept = build(
    a.shape.map((n, i) => (i === k ? 1 : n)),
    (index) => {
      const start = index.reduce((place, at, i) => place + (i === k ? 0 : at * strides(a.shape)[i]), 0);
      return f(Array.from({length}, (_, t) => a.data[start + t * step]));
    },
  );
  return keep ? kept : {shape: a.shape.filter((_, i) => i !== k), data: kept.data};
}

/** Return the array with the lists along one axis replaced by others of the same length. */
export function along(f, a, axis) {
  const rank = a.shape.length;
  if (rank === 0) return {shape: [], data: f(a.data)};
  const k = axis < 0 ? axis + rank : axis;
  if (!(k >= 0 && k < rank)) throw new Unknown("an axis that is not there");
  const step = strides(a.shape)[k];
  const length = a.shape[k];
  const data = new Array(a.data.length);
  for (let start = 0; start < data.length; start++) {
    if (Math.floor(start / step) % length !== 0) continue;
    f(Array.from({length}, (_, t) => a.data[start + t * step])).forEach((value, t) => {
      data[start + t * step] = value;
    });
  }
  return {shape: a.shape, data};
}

export const integers = (given) => given.flatMap((array) => array.data);

export function reshaped(a, given) {
  const lengths = integers(given);
  const known = lengths.filter((length) => length !== -1);
  const shape = lengths.map((length) => (length === -1 ? a.data.length / sizeOf(known) : length));
  if (sizeOf(shape) !== a.data.length) throw new Unknown("shapes that do not fit together");
  return {shape, data: a.data};
}

export function inserted(a, axis) {
  const k = axis < 0 ? axis + a.shape.length + 1 : axis;
  return {shape: a.shape.toSpliced(k, 0, 1), data: a.data};
}

export function stacked(items) {
  if (!items.length) throw new Unknown("an empty list");
  const shape = broadcastShape(items.map((item) => item.shape));
  if (items.some((item) => !same(item.shape, shape))) throw new Unknown("a list of different shapes");
  return {shape: [items.length, ...shape], data: items.flatMap((item) => item.data)};
}

/** Return what an index takes out of an array: integers, slices, None and an ellipsis. */
export function indexed(a, items, value) {
  const taken = items.filter((item) => item.kind !== "new axis" && item.kind !== "ellipsis").length;
  if (taken > a.shape.length) throw new Unknown("an index of more axes than there are");
  const own = strides(a.shape);
  const steps = []; // of each axis of the result: how far apart its entries stand, and how many there are
  let offset = 0;
  let axis = 0;
  const keep = () => {
    steps.push([own[axis], a.shape[axis]]);
    axis++;
  };
  const number = (part) => {
    const found = value(part);
    if (found.shape.length || !Number.isInteger(found.data[0])) throw new Unknown("an index that is not a number");
    return found.data[0];
  };
  for (const item of items) {
    if (item.kind === "new axis") {
      steps.push([0, 1]);
    } else if (item.kind === "ellipsis") {
      for (let rest = a.shape.length - taken; rest > 0; rest--) keep();
    } else if (item.kind === "slice") {
      const [start, step, count] = sliceOf(item, a.shape[axis], number);
      offset += own[axis] * start;
      steps.push([own[axis] * step, count]);
      axis++;
    } else {
      const at = number(item);
      const length = a.shape[axis];
      if (at < -length || at >= length) throw new Unknown("an index that is out of range");
      offset += own[axis++] * (at < 0 ? at + length : at);
    }
  }
  while (axis < a.shape.length) keep();
  const shape = steps.map(([, count]) => count);
  return build(shape, (index) => a.data[index.reduce((place, at, k) => place + at * steps[k][0], offset)]);
}

function sliceOf({start, stop, step}, length, number) {
  const by = step === null ? 1 : number(step);
  if (by < 1) throw new Unknown("a slice that runs backward");
  const clipped = (part, otherwise) => {
    if (part === null) return otherwise;
    const at = number(part);
    return Math.min(Math.max(at < 0 ? at + length : at, 0), length);
  };
  const [first, last] = [clipped(start, 0), clipped(stop, length)];
  return [first, by, Math.max(0, Math.ceil((last - first) / by))];
}
