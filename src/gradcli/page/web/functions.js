// The functions that formulas may call, by what they take.

import {Unknown} from "./language.js";
import {
  along,
  broadcast,
  build,
  elementwise,
  inserted,
  integers,
  matmul,
  reduce,
  reshaped,
  transposed,
} from "./arrays.js";

const highest = (list) => list.reduce((most, a) => Math.max(most, a), -Infinity);
const total = (list) => list.reduce((sum, a) => sum + a, 0);
const logsumexp = (list) => {
  const top = highest(list);
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
export const remainder = (a, b) => {
  const rest = a % b;
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
};
export const truth = (value) => (value ? 1 : 0);
const ends = (x, low, high) => (Number.isNaN(x) ? x : Math.min(Math.max(x, low), high));

// prettier-ignore
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
// prettier-ignore
const OF_TWO = {
  maximum: (a, b) => (Number.isNaN(a + b) ? NaN : Math.max(a, b)),
  minimum: (a, b) => (Number.isNaN(a + b) ? NaN : Math.min(a, b)),
  hypot: Math.hypot, atan2: Math.atan2, arctan2: Math.atan2, pow: Math.pow,
  clamp_min: (x, low) => ends(x, low, Infinity),
  clamp_max: (x, high) => ends(x, -Infinity, high),
  heaviside: (x, at) => (Number.isNaN(x) ? x : x === 0 ? at : truth(x > 0)),
};
const OF_THREE = {where: (test, a, b) => (test ? a : b), clip: ends, clamp: ends};
// prettier-ignore
const OF_AXIS = {
  sum: total, mean: (list) => total(list) / list.length, prod: (list) => list.reduce((product, a) => product * a, 1),
  logsumexp, norm: (list) => Math.sqrt(total(list.map((a) => a * a))),
  amax: highest, amin: (list) => -highest(list.map((a) => -a)),
};
const ALONG = {softmax, log_softmax: logSoftmax, cumsum: running, flip: (list) => [...list].reverse()};

// Functions of arrays, by what is given by position.
// prettier-ignore
const OF_ARRAYS = {
  matmul, mm: matmul, mv: matmul, inner: dot, dot,
  outer: (a, b) => build([a.data.length, b.data.length], ([i, j]) => a.data[i] * b.data[j]),
  transpose: transposed, t: transposed, T: transposed,
  zeros_like: (a) => ({shape: a.shape, data: a.data.map(() => 0)}),
  ones_like: (a) => ({shape: a.shape, data: a.data.map(() => 1)}),
  reshape: (a, ...lengths) => reshaped(a, lengths), view: (a, ...lengths) => reshaped(a, lengths),
  flatten: (a) => ({shape: [a.data.length], data: a.data}),
  ravel: (a) => ({shape: [a.data.length], data: a.data}),
  clone: (a) => a, expand: (a, ...lengths) => broadcast(a, integers(lengths)),
  broadcast_to: (a, shape) => broadcast(a, integers([shape])),
  zeros: (...lengths) => build(integers(lengths), () => 0), ones: (...lengths) => build(integers(lengths), () => 1),
  stack: (list) => list,
  unsqueeze: (a, axis) => inserted(a, axis.data[0]),
};

// Those that take any number of lengths. */
const OF_LENGTHS = new Set(["reshape", "view", "expand", "zeros", "ones"]);

function dot(a, b) {
  if (a.shape.length !== 1 || b.shape.length !== 1) throw new Unknown("a dot product of matrices");
  return matmul(a, b);
}

/** Return the value of a call; throws Unknown for a function, or an argument of it, that is not known here. */
export function called(name, items, given) {
  const {dim, axis = dim, keepdim, keepdims = keepdim, ...rest} = given;
  if (Object.keys(rest).length) throw new Unknown(`${name}(${Object.keys(rest)[0]}=…)`);
  const plain = axis === undefined && keepdims === undefined ? ofItems(name, items) : null;
  return plain ?? ofAxis(name, items, axis, keepdims);
}

/** Return the value of a function of entries or of arrays; null where there is none of this name and number. */
function ofItems(name, items) {
  const byCount = [OF_ENTRIES, OF_TWO, OF_THREE][items.length - 1];
  if (byCount && Object.hasOwn(byCount, name)) return elementwise(byCount[name], ...items);
  if (!Object.hasOwn(OF_ARRAYS, name)) return null;
  const f = OF_ARRAYS[name];
  return f.length === items.length || (OF_LENGTHS.has(name) && items.length > f.length) ? f(...items) : null;
}

/** Return the value of a function that works along an axis, given by position or by name. */
function ofAxis(name, items, axis, keep) {
  const [first, second] = items;
  const chosen = items.length === 2 ? second : axis;
  const number = chosen === undefined || chosen.shape.length ? null : chosen.data[0];
  if (items.length > 2 || (chosen !== undefined && !Number.isInteger(number))) {
    throw new Unknown(`${name} of these arguments`);
  }
  if (Object.hasOwn(OF_AXIS, name) && (name !== "norm" || items.length === 1)) {
    return reduce(OF_AXIS[name], first, number, Boolean(keep?.data[0]));
  }
  if (Object.hasOwn(ALONG, name) && keep === undefined && (number !== null || first.shape.length < 2)) {
    return along(ALONG[name], first, number ?? 0);
  }
  throw new Unknown(`the function ${name}`);
}
