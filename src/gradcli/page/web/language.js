// The formulas of an answer, read: text in gradcli's language becomes a tree of plain objects.
//
// A node is one of
//   {kind: "number", value, text}          {kind: "name", name}             {kind: "cotangent", name}   h.grad
//   {kind: "unary", operator, operand}     {kind: "binary", operator, left, right}
//   {kind: "comparison", operators, operands}                               {kind: "list", items}
//   {kind: "call", name, items, named}     {kind: "method", object, name, items, named}
//   {kind: "member", object, name}         {kind: "index", object, items}
// An item of an index is a node, {kind: "slice", start, stop, step}, {kind: "new axis"} or {kind: "ellipsis"}.

/** A formula holds something that this page does not know. */
export class Unknown extends Error {}

const NUMBER = /(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/u;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/u;
const SIGN = /\*\*|\/\/|<=|>=|==|!=|\.\.\.|[-+*/%@<>=&|^~()[\].,:]/u;
const TOKEN = new RegExp(`\\s*(?:(${NUMBER.source})|(${NAME.source})|(${SIGN.source}))`, "uy");
const WORDS = new Set(["and", "or", "not", "if", "else", "for", "in", "is", "lambda"]);

/** Return the tokens of a text, each {kind: "number" | "name" | "sign" | "end", text, start}. */
export function tokens(text) {
  const found = [];
  const trimmed = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (match === null) throw new Unknown("a character that this page does not read");
    const [whole, number, name, sign] = match;
    const kind = number !== undefined ? "number" : name !== undefined ? "name" : "sign";
    const own = number ?? name ?? sign;
    found.push({kind, text: own, start: match.index + whole.length - own.length});
  }
  return [...found, {kind: "end", text: "", start: trimmed.length}];
}

// Operators of two sides, from those that bind loosest; ** binds tighter than a minus before it.
const LEVELS = [["|"], ["^"], ["&"], ["+", "-"], ["*", "/", "//", "%", "@"]];
const COMPARISONS = new Set(["<", ">", "<=", ">=", "==", "!="]);
const DEEPEST = 200;

/** Return the tree of an expression; throws Unknown for what is not read here. */
export function parse(text) {
  const all = tokens(text);
  let place = 0;
  let depth = 0;

  const next = () => all[place];
  const at = (sign) => next().kind === "sign" && next().text === sign;
  const accept = (sign) => at(sign) && Boolean(++place);
  const expect = (sign) => {
    if (!accept(sign)) throw new Unknown(`'${next().text}' where '${sign}' should stand`);
  };

  function expression() {
    if (++depth > DEEPEST) throw new Unknown("a formula that is nested too deeply");
    const first = level(0);
    const operators = [];
    const operands = [first];
    while (next().kind === "sign" && COMPARISONS.has(next().text)) {
      operators.push(all[place++].text);
      operands.push(level(0));
    }
    depth--;
    return operators.length ? {kind: "comparison", operators, operands} : first;
  }

  function level(k) {
    if (k === LEVELS.length) return signed();
    let left = level(k + 1);
    while (next().kind === "sign" && LEVELS[k].includes(next().text)) {
      const operator = all[place++].text;
      left = {kind: "binary", operator, left, right: level(k + 1)};
    }
    return left;
  }

  function signed() {
    for (const operator of ["-", "+", "~"]) {
      if (accept(operator)) return {kind: "unary", operator, operand: signed()};
    }
    return power();
  }

  function power() {
    const base = postfix(atom());
    return accept("**") ? {kind: "binary", operator: "**", left: base, right: signed()} : base;
  }

  function postfix(start) {
    let node = start;
    for (;;) {
      if (accept("[")) {
        node = {kind: "index", object: node, items: items("]", indexItem)};
      } else if (accept(".")) {
        const name = all[place++].text;
        if (accept("(")) node = {kind: "method", object: node, name, ...given()};
        else if (name === "grad" && node.kind === "name") node = {kind: "cotangent", name: node.name};
        else node = {kind: "member", object: node, name};
      } else {
        return node;
      }
    }
  }

  function atom() {
    const token = all[place++];
    if (token.kind === "number") {
      return {kind: "number", value: Number(token.text.replaceAll("_", "")), text: token.text};
    }
    if (token.kind === "name" && !WORDS.has(token.text)) {
      return accept("(") ? {kind: "call", name: token.text, ...given()} : {kind: "name", name: token.text};
    }
    if (token.text === "(") {
      const inner = expression();
      if (at(",")) {
        accept(",");
        return {kind: "list", items: [inner, ...items(")", expression)]};
      }
      expect(")");
      return inner;
    }
    if (token.text === "[") return {kind: "list", items: items("]", expression)};
    throw new Unknown(`'${token.text}', which this page does not read`);
  }

  function items(end, read) {
    const found = [];
    while (!accept(end)) {
      found.push(read());
      if (!at(end)) expect(",");
    }
    return found;
  }

  function indexItem() {
    if (accept("...")) return {kind: "ellipsis"};
    if (next().kind === "name" && next().text === "None") {
      place++;
      return {kind: "new axis"};
    }
    const parts = [null, null, null];
    let k = 0;
    while (!at(",") && !at("]")) {
      if (accept(":")) k++;
      else parts[k] = expression();
      if (k > 2) throw new Unknown("a slice of four parts");
    }
    return k === 0 ? parts[0] : {kind: "slice", start: parts[0], stop: parts[1], step: parts[2]};
  }

  function given() {
    const named = {};
    const found = items(")", () => {
      const after = all[place + 1];
      if (next().kind === "name" && after.kind === "sign" && after.text === "=") {
        const name = next().text;
        place += 2;
        named[name] = expression();
        return null;
      }
      return expression();
    });
    return {items: found.filter((item) => item !== null), named};
  }

  const tree = expression();
  if (next().kind !== "end") throw new Unknown(`'${next().text}', which this page does not read`);
  return tree;
}

/** Yield every node of a tree, the tree itself first. */
export function* nodesOf(tree) {
  yield tree;
  for (const value of Object.values(tree)) {
    for (const part of Array.isArray(value) ? value : [value]) {
      if (part !== null && typeof part === "object") {
        yield* part.kind ? nodesOf(part) : Object.values(part).flatMap((node) => [...nodesOf(node)]);
      }
    }
  }
}

/** Return the names that a formula mentions, of those known; works where the formula cannot be parsed, too. */
export function namesIn(text, known) {
  const found = new Set();
  for (const match of text.matchAll(/(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*(?!\s*\()/gu)) {
    if (known.has(match[0])) found.add(match[0]);
  }
  return found;
}

/** Return the terms of a sum at the top of a formula, as texts with their sign. */
export function termsOf(text) {
  const starts = [0];
  let open = 0;
  let before = null;
  for (const token of tokens(text)) {
    if (token.kind === "sign") {
      if ("([".includes(token.text)) open++;
      if (")]".includes(token.text)) open--;
      const binary = before !== null && (before.kind !== "sign" || ")]".includes(before.text));
      if (open === 0 && binary && (token.text === "+" || token.text === "-")) starts.push(token.start);
    }
    before = token;
  }
  return starts.map((start, k) =>
    text
      .slice(start, starts[k + 1])
      .trim()
      .replace(/^\+\s*/, ""),
  );
}
