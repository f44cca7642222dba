// Formulas as they are written in a book: MathML from the tree of a formula.

import {Unknown, parse} from "./language.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const LONGEST = 84; // characters of a formula that is drawn; a longer one stays text, which breaks at its spaces
const STRENGTH = {"|": 1, "^": 2, "&": 3, "+": 4, "-": 4, "*": 5, "/": 5, "//": 5, "%": 5, "@": 5};
const SIGNS = {"-": "−", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "//": "//", "&": "∧", "|": "∨", "@": "@"};
// prettier-ignore
const GREEK = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", theta: "θ", lambda: "λ", mu: "μ", nu: "ν",
  pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", psi: "ψ", omega: "ω",
};

function math(tag, ...children) {
  const node = document.createElementNS(MATHML, tag);
  node.append(...children);
  return node;
}

const row = (...children) => math("mrow", ...children);
const sign = (text) => math("mo", text);
const bracketed = (inner) => row(sign("("), inner, sign(")"));

function name(text) {
  const node = math("mi", GREEK[text] ?? text);
  if (text.length > 1 && !GREEK[text]) node.setAttribute("mathvariant", "normal");
  return node;
}

function strength(node) {
  if (node.kind === "binary") return node.operator === "**" ? 7 : STRENGTH[node.operator];
  if (node.kind === "unary") return 6;
  return node.kind === "comparison" ? 0 : 9;
}

const drawn = (node, least) => (strength(node) < least ? bracketed(draw(node)) : draw(node));

function listed(items, open, close) {
  return row(sign(open), ...items.flatMap((item, k) => (k ? [sign(","), draw(item)] : [draw(item)])), sign(close));
}

/** Return the index of a name as a subscript, where each of its parts is short. */
function subscript(node) {
  if (!node.items.every((item) => item.kind === "number" || item.kind === "name")) return null;
  return row(...node.items.flatMap((item, k) => (k ? [sign(","), draw(item)] : [draw(item)])));
}

function power(node) {
  const {left, right} = node;
  const exponent = draw(right);
  const below = left.kind === "index" && left.object.kind === "name" ? subscript(left) : null;
  if (below) return math("msubsup", draw(left.object), below, exponent);
  if (left.kind === "call" && right.kind === "number") return call(left, exponent);
  if (left.kind === "call") return math("msup", bracketed(draw(left)), exponent);
  return math("msup", drawn(left, 9), exponent);
}

function product(node) {
  const [left, right] = [drawn(node.left, 5), drawn(node.right, 6)];
  const plain = node.left.kind === "number" && node.right.kind !== "number" && node.right.kind !== "list";
  return row(left, sign(plain ? "\u2062" : "⋅"), right);
}

/** Return a call; with an exponent as people write it, tanh²(x). */
function call(node, exponent = null) {
  const {name: called, items} = node;
  if (exponent === null && items.length === 1 && !Object.keys(node.named).length) {
    if (called === "sqrt") return math("msqrt", draw(items[0]));
    if (called === "abs") return row(sign("|"), draw(items[0]), sign("|"));
    if (called === "exp" && strength(items[0]) > 5) return math("msup", name("e"), draw(items[0]));
  }
  const named = Object.entries(node.named).map(([key, value]) => row(name(key), sign("="), draw(value)));
  const given = [...items.map(draw), ...named].flatMap((item, k) => (k ? [sign(","), item] : [item]));
  const above = exponent === null ? name(called) : math("msup", name(called), exponent);
  return row(above, row(sign("("), ...given, sign(")")));
}

function draw(node) {
  switch (node.kind) {
    case "number":
      return math("mn", node.text);
    case "name":
      return name(node.name);
    case "cotangent":
      return row(name(node.name), sign("."), name("grad"));
    case "unary":
      return row(sign(SIGNS[node.operator] ?? node.operator), drawn(node.operand, 5));
    case "list":
      return listed(node.items, "[", "]");
    case "call":
      return call(node);
    case "comparison":
      return row(
        ...node.operands.flatMap((operand, k) =>
          k ? [sign(SIGNS[node.operators[k - 1]] ?? node.operators[k - 1]), drawn(operand, 1)] : [drawn(operand, 1)],
        ),
      );
    case "binary": {
      const {operator, left, right} = node;
      if (operator === "**") return power(node);
      if (operator === "/") return math("mfrac", draw(left), draw(right));
      if (operator === "*") return product(node);
      const own = STRENGTH[operator];
      return row(drawn(left, own), sign(SIGNS[operator] ?? operator), drawn(right, own + 1));
    }
    case "index": {
      const below = subscript(node);
      return below
        ? math("msub", drawn(node.object, 9), below)
        : row(drawn(node.object, 9), listed(node.items, "[", "]"));
    }
    default:
      throw new Unknown("no sign for this");
  }
}

/** Return a formula as an element: MathML where it is short and all of it can be drawn, its text elsewhere. */
export function formulaElement(text) {
  if (text.length <= LONGEST) {
    try {
      const node = math("math", row(draw(parse(text))));
      node.setAttribute("class", "formula");
      return node;
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
    }
  }
  const code = document.createElement("code");
  code.className = "formula";
  code.textContent = text;
  return code;
}

/** Return a formula as one line of text for a label of the picture. */
export function labelText(text, longest = 26) {
  const written = text
    .replace(/\*\*2(?![\d.])/g, "²")
    .replace(/\*\*3(?![\d.])/g, "³")
    .replace(/(?<!\*)\*(?!\*)/g, "·")
    .replace(/ - /g, " − ");
  return written.length <= longest ? written : `${written.slice(0, longest - 1)}…`;
}
