// The value of a formula, given the values of the names in it.

import {Unknown, parse} from "./language.js";
import {elementwise, indexed, matmul, scalar, stacked, transposed} from "./arrays.js";
import {called, remainder, truth} from "./functions.js";

// prettier-ignore
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
    case "number":
      return scalar(node.value);
    case "name":
      return named(node.name, names);
    case "cotangent":
      return named(`${node.name}.grad`, names);
    case "list":
      return stacked(node.items.map(value));
    case "unary":
      return signed(node.operator, value(node.operand));
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
    case "index":
      return indexed(value(node.object), node.items, value);
    case "member":
      return member(node, names);
    case "call":
      return called(node.name, node.items.map(value), valuesOf(node.named, value));
    case "method": {
      const items = isLibrary(node.object, names) ? node.items : [node.object, ...node.items];
      return called(node.name, items.map(value), valuesOf(node.named, value));
    }
    default:
      throw new Unknown("a formula that this page does not read");
  }
}

const valuesOf = (given, value) => Object.fromEntries(Object.entries(given).map(([name, part]) => [name, value(part)]));

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

/** Return the value of a formula, or null where it holds something that is not known here. */
export function valueOf(text, names) {
  try {
    return evaluate(parse(text), names);
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}
