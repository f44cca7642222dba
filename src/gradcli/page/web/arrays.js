// Arrays of numbers as NumPy has them, and the functions that formulas may call.
//
// An array is {shape: [2, 3], data: [...]}, row-major; a single number has the shape [].

import {Unknown, parse} from "./language.js";

const sizeOf = (shape) => shape.reduce((product, length) => product * length, 1);
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
function build(shape, entry) {
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

function elementwise(f, ...arrays) {
  if (arrays.length === 1) return {shape: arrays[0].shape, data: arrays[0].data.map((a) => f(a))};
  const shape = broadcastShape(arrays.map((array) => array.shape));
  const all = arrays.map((array) => broadcast(array, shape).data);
  return {shape, data: Array.from({length: sizeOf(shape)}, (_, k) => f(...all.map((data) => data[k])))};
}

function transposed(a) {
  if (a.shape.length < 2) return a;
  if (a.shape.length > 2) throw new Unknown("a transpose of more than two axes");
  const [rows, columns] = a.shape;
  return build([columns, rows], ([i, j]) => a.data[j * columns + i]);
}

function matmul(a, b) {
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
function reduce(f, a, axis, keep) {
  if (axis === null) return {shape: keep ? a.shape.map(() => 1) : [], data: [f(a.data)]};
  const k = axis < 0 ? axis + a.shape.length : axis;
  if (!(k >= 0 && k < a.shape.length)) throw new Unknown("an axis that is not there");
  const step = strides(a.shape)[k];
  const length = a.shape[k];
  const kept = build(a.shape.map((n, i) => (i === k ? 1 : n)), (index) => {
    const start = index.reduce((place, at, i) => place + (i === k ? 0 : at * strides(a.shape)[i]), 0);
    return f(Array.from({length}, (_, t) => a.data[start + t * step]));
  });
  return keep ? kept : {shape: a.shape.filter((_, i) => i !== k), data: kept.data};
}

/** Return the array with the lists along one axis replaced by others of the same length. */
function along(f, a, axis) {
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

const total = (list) => list.reduce((sum, a) => sum + a, 0);
const logsumexp = (list) => {
  const top = Math.max(...list);
  return Number.isFinite(top) ? top + Math.log(total(list.map((a) => Math.exp(a - top)))) : top;
};
const softmax = (list) => {
  const whole = logsumexp(list);
  return list.map((a) => Math.exp(a - whole));
};
const logSoftmax = (list) => {
  const whole = logsumexp(list);
  return list.map((a) => a - whole);
};
const running = (list) => {
  let sum = 0;
  return list.map((a) => (sum += a));
};

const sigmoid = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplus = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const remainder = (a, b) => {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
};
const truth = (value) => (value ? 1 : 0);
const ends = (x, low, high) => (Number.isNaN(x) ? x : Math.min(Math.max(x, low), high));

const OF_ENTRIES = {
  sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan,
  arcsin: Math.asin, arccos: Math.acos, arctan: Math.atan, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh,
  asinh: Math.asinh, acosh: Math.acosh, atanh: Math.atanh, exp: Math.exp, expm1: Math.expm1, exp2: (x) => 2 ** x,
  log: Math.log, log1p: Math.log1p, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt, cbrt: Math.cbrt,
  rsqrt: (x) => 1 / Math.sqrt(x), square: (x) => x * x, reciprocal: (x) => 1 / x, abs: Math.abs, neg: (x) => -x,
  sign: Math.sign, sigmoid, softplus, relu: (x) => (Number.isNaN(x) ? x : Math.max(x, 0)),
  logsigmoid: (x) => -softplus(-x), silu: (x) => x * sigmoid(x), softsign: (x) => x / (1 + Math.abs(x)),
  isnan: (x) => truth(Number.isNaN(x)), floor: Math.floor, ceil: Math.ceil,
};
const OF_TWO = {
  maximum: (a, b) => (Number.isNaN(a + b) ? NaN : Math.max(a, b)),
  minimum: (a, b) => (Number.isNaN(a + b) ? NaN : Math.min(a, b)),
  hypot: Math.hypot, atan2: Math.atan2, arctan2: Math.atan2, pow: Math.pow, clamp_min: (x, low) => ends(x, low, Infinity),
  clamp_max: (x, high) => ends(x, -Infinity, high),
  heaviside: (x, at) => (Number.isNaN(x) ? x : x === 0 ? at : truth(x > 0)),
};
const OF_THREE = {where: (test, a, b) => (test ? a : b), clip: ends, clamp: ends};
const OF_AXIS = {
  sum: total, mean: (list) => total(list) / list.length, prod: (list) => list.reduce((product, a) => product * a, 1),
  logsumexp, norm: (list) => Math.hypot(...list), amax: (list) => Math.max(...list), amin: (list) => Math.min(...list),
};
const ALONG = {softmax, log_softmax: logSoftmax, cumsum: running, flip: (list) => [...list].reverse()};

/** Functions of arrays: what is given by position, then what is given by name. */
const OF_ARRAYS = {
  matmul, mm: matmul, mv: matmul, inner: (a, b) => oneAxis(a, b) && matmul(a, b), dot: (a, b) => oneAxis(a, b) && matmul(a, b),
  outer: (a, b) => build([a.data.length, b.data.length], ([i, j]) => a.data[i] * b.data[j]),
  transpose: transposed, t: transposed, T: transposed,
  zeros_like: (a) => ({shape: a.shape, data: a.data.map(() => 0)}),
  ones_like: (a) => ({shape: a.shape, data: a.data.map(() => 1)}),
  reshape: (a, ...lengths) => reshaped(a, lengths), view: (a, ...lengths) => reshaped(a, lengths),
  flatten: (a) => ({shape: [a.data.length], data: a.data}), ravel: (a) => ({shape: [a.data.length], data: a.data}),
  clone: (a) => a, expand: (a, ...lengths) => broadcast(a, integers(lengths)),
  broadcast_to: (a, shape) => broadcast(a, integers([shape])),
  zeros: (...lengths) => build(integers(lengths), () => 0), ones: (...lengths) => build(integers(lengths), () => 1),
  stack: (list) => list, trace: (a) => scalar(total(a.data.filter((_, place) => place % (a.shape[1] + 1) === 0))),
  unsqueeze: (a, axis) => inserted(a, axis.data[0]),
};

/** Those that take any number of lengths. */
const OF_LENGTHS = new Set(["reshape", "view", "expand", "zeros", "ones"]);

function oneAxis(a, b) {
  if (a.shape.length !== 1 || b.shape.length !== 1) throw new Unknown("a dot product of matrices");
  return true;
}

const integers = (given) => given.flatMap((array) => array.data);

function reshaped(a, given) {
  const lengths = integers(given);
  const known = lengths.filter((length) => length !== -1);
  const shape = lengths.map((length) => (length === -1 ? a.data.length / sizeOf(known) : length));
  if (sizeOf(shape) !== a.data.length) throw new Unknown("shapes that do not fit together");
  return {shape, data: a.data};
}

function inserted(a, axis) {
  const k = axis < 0 ? axis + a.shape.length + 1 : axis;
  return {shape: a.shape.toSpliced(k, 0, 1), data: a.data};
}

const OPERATORS = {
  "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => a / b, "**": Math.pow,
  "//": (a, b) => Math.floor(a / b), "%": remainder, "&": (a, b) => truth(a && b), "|": (a, b) => truth(a || b),
  "<": (a, b) => truth(a < b), ">": (a, b) => truth(a > b), "<=": (a, b) => truth(a <= b),
  ">=": (a, b) => truth(a >= b), "==": (a, b) => truth(a === b), "!=": (a, b) => truth(a !== b),
};
const LIBRARIES = new Set(["torch", "np", "numpy", "math", "F", "jnp", "jax", "nn", "functional", "special"]);
const CONSTANTS = {pi: Math.PI, e: Math.E, inf: Infinity, nan: NaN, True: 1, False: 0};

/** What makes a derivative hold on one side only, so that a formula of J is none for another point. */
const CHOOSING = new Set(["where", "amax", "amin", "floor", "ceil", "sign", "heaviside", "isnan", "%", "//", "&", "|"]);

/** Return whether a formula takes one way or another by its numbers. */
export function chooses(node) {
  return node.kind === "comparison" || CHOOSING.has(node.operator ?? node.name);
}

/** Return the value of a tree; `names` is a Map of arrays, in which h.grad is the cotangent of h. */
export function evaluate(node, names) {
  const value = (part) => evaluate(part, names);
  switch (node.kind) {
    case "number": return scalar(node.value);
    case "name": return named(node.name, names);
    case "cotangent": return named(`${node.name}.grad`, names);
    case "list": return stacked(node.items.map(value));
    case "unary": return signed(node.operator, value(node.operand));
    case "binary": {
      const [a, b] = [value(node.left), value(node.right)];
      if (node.operator === "@") return matmul(a, b);
      if (!(node.operator in OPERATORS)) throw new Unknown(`the operator ${node.operator}`);
      return elementwise(OPERATORS[node.operator], a, b);
    }
    case "comparison": {
      const operands = node.operands.map(value);
      const tests = node.operators.map((operator, k) => elementwise(OPERATORS[operator], operands[k], operands[k + 1]));
      return tests.reduce((a, b) => elementwise(OPERATORS["&"], a, b));
    }
    case "index": return indexed(value(node.object), node.items, value);
    case "member": return member(node, names);
    case "call": return called(node.name, node.items.map(value), valuesOf(node.named, value));
    case "method": {
      const items = isLibrary(node.object, names) ? node.items : [node.object, ...node.items];
      return called(node.name, items.map(value), valuesOf(node.named, value));
    }
    default: throw new Unknown("a formula that this page does not read");
  }
}

const valuesOf = (named, value) =>
  Object.fromEntries(Object.entries(named).map(([name, part]) => [name, value(part)]));

function named(name, names) {
  if (names.has(name)) return names.get(name);
  if (Object.hasOwn(CONSTANTS, name)) return scalar(CONSTANTS[name]);
  throw new Unknown(`the name ${name}`);
}

function isLibrary(node, names) {
  if (node.kind === "member") return isLibrary(node.object, names) && LIBRARIES.has(node.name);
  return node.kind === "name" && LIBRARIES.has(node.name) && !names.has(node.name);
}

function member(node, names) {
  if (isLibrary(node.object, names) && Object.hasOwn(CONSTANTS, node.name)) return scalar(CONSTANTS[node.name]);
  if (node.name === "T" || node.name === "mT") return transposed(evaluate(node.object, names));
  throw new Unknown(`.${node.name}`);
}

function signed(operator, a) {
  if (operator === "~") return elementwise((x) => truth(!x), a);
  return operator === "-" ? elementwise((x) => -x, a) : a;
}

function stacked(items) {
  if (!items.length) throw new Unknown("an empty list");
  const shape = broadcastShape(items.map((item) => item.shape));
  if (items.some((item) => !same(item.shape, shape))) throw new Unknown("a list of different shapes");
  return {shape: [items.length, ...shape], data: items.flatMap((item) => item.data)};
}

/** Return the value of a call; throws Unknown for a function, or an argument of it, that is not known here. */
function called(name, items, given) {
  const {dim, axis = dim, keepdim, keepdims = keepdim, ...rest} = given;
  if (Object.keys(rest).length) throw new Unknown(`${name}(${Object.keys(rest)[0]}=…)`);
  const [first, second] = items;
  if (axis === undefined && keepdims === undefined) {
    if (Object.hasOwn(OF_ENTRIES, name) && items.length === 1) return elementwise(OF_ENTRIES[name], first);
    if (Object.hasOwn(OF_TWO, name) && items.length === 2) return elementwise(OF_TWO[name], ...items);
    if (Object.hasOwn(OF_THREE, name) && items.length === 3) return elementwise(OF_THREE[name], ...items);
    if (Object.hasOwn(OF_ARRAYS, name)) {
      const f = OF_ARRAYS[name];
      if (f.length === items.length || (OF_LENGTHS.has(name) && items.length > f.length)) return f(...items);
    }
  }
  const chosen = items.length === 2 ? second : axis;
  const number = chosen === undefined || chosen.shape.length ? null : chosen.data[0];
  if (items.length > 2 || (chosen !== undefined && (number === null || !Number.isInteger(number)))) {
    throw new Unknown(`${name} of these arguments`);
  }
  if (Object.hasOwn(OF_AXIS, name) && (name !== "norm" || items.length === 1)) {
    return reduce(OF_AXIS[name], first, number, Boolean(keepdims?.data[0]));
  }
  if (Object.hasOwn(ALONG, name) && keepdims === undefined && (number !== null || first.shape.length < 2)) {
    return along(ALONG[name], first, number ?? 0);
  }
  throw new Unknown(`the function ${name}`);
}

/** Return what an index takes out of an array: integers, slices, None and an ellipsis. */
function indexed(a, items, value) {
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

/** Return the value of a formula, or null where it holds something that is not known here. */
export function valueOf(text, names) {
  try {
    return evaluate(parse(text), names);
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}
