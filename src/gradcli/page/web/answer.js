// The answer's document, and what moves with it: v, and where the formulas allow it the inputs.
//
// The document's numbers are taken as they are. A formula is evaluated here only where, at the point of the answer, it
// gives the number that stands beside it.

import {Unknown, parse, nodesOf} from "./language.js";
import {arrayOf, broadcast, sizeOf} from "./arrays.js";
import {chooses, evaluate, valueOf} from "./evaluate.js";
import {Jacobian, placeText} from "./jacobian.js";
import {slopesAgree} from "./slopes.js";

export const MOST_MOVING = 24; // entries of all inputs together that get a slider
const MOST_EVALUATED = 400; // entries of J that are worked out again as an input moves
const CLOSE = 1e-9;
const ROUNDING = 64 * 2 ** -52;

/** Return whether two arrays are the same but for rounding; nan is equal to itself. */
function isClose(found, wanted, within = CLOSE) {
  if (found.data.length !== wanted.data.length) return false;
  const largest = wanted.data.reduce((most, b) => (Number.isFinite(b) ? Math.max(most, Math.abs(b)) : most), 1e-300);
  return wanted.data.every((b, k) => {
    const a = found.data[k];
    return Number.isFinite(b) ? Math.abs(a - b) <= within * largest : Object.is(a, b);
  });
}

export class Answer {
  constructor(document) {
    this.document = document;
    this.recorded = new Map(document.forward.map((value) => [value.name, arrayOf(value.value, value.shape)]));
    const output = document.forward.findLast((value) => value.role === "output");
    this.output = {name: output?.name ?? "y", shape: document.output.shape, size: sizeOf(document.output.shape)};
    this.y = arrayOf(document.output.value, document.output.shape);
    this.values = new Map(this.recorded);
    for (const [name, input] of Object.entries(document.inputs)) {
      this.values.set(name, arrayOf(input.value, input.shape));
    }
    for (const [name, constant] of Object.entries(document.constants ?? {})) {
      this.values.set(name, arrayOf(constant, shapeOf(constant)));
    }
    this.jacobians = Object.entries(document.jacobian).map(
      ([name, jacobian]) => new Jacobian(name, document.inputs[name], jacobian, this.output.size),
    );
    this.seed = this.seedOf(document.v);
    this.v = [...this.seed];
    this.start = new Map(this.values);
    this.lines = document.reverse.map((line) => ({...line, recorded: arrayOf(line.value, line.shape)}));
    this.cotangents = new Map();
    this.readBackward();
    this.stuck = this.whatKeepsInputs();
    this.doubt = "";
    this.isAsking = false;
  }

  /** Return v in the shape of y: several numbers for a single y are what the document says, their sum. */
  seedOf(v) {
    const flat = arrayOf(v.value, v.shape).data;
    return this.output.size === 1 ? [flat.reduce((sum, a) => sum + a, 0)] : flat;
  }

  /** Return the name of an entry of y: "y[2]". */
  rowName(row) {
    return this.output.name + placeText(row, this.output.shape);
  }

  /** Return what entry k of J adds to its column: v times the derivative. */
  term(jacobian, k) {
    return this.v[jacobian.rows[k]] * jacobian.values[k];
  }

  /** Return vᵀ·J, where what is only rounding is 0. */
  vjp(jacobian) {
    const sums = new Array(jacobian.width).fill(0);
    for (let k = 0; k < jacobian.rows.length; k++) sums[jacobian.columns[k]] += this.term(jacobian, k);
    return this.withoutDust(jacobian, sums);
  }

  /** Return x.grad by the lines of Backward, or null where one of them is not evaluated here and v has moved. */
  grad(jacobian) {
    const {name, shape} = jacobian;
    const line = this.cotangents.get(name);
    if (line) return this.withoutDust(jacobian, line.data);
    return this.isMoved() ? null : this.withoutDust(jacobian, arrayOf(this.document.grad[name], shape).data);
  }

  /** Return numbers, one for each column of J, with 0 for those that are rounding beside the terms of vᵀ·J. */
  withoutDust(jacobian, numbers) {
    const sizes = new Array(jacobian.width).fill(0);
    for (let k = 0; k < jacobian.rows.length; k++) sizes[jacobian.columns[k]] += Math.abs(this.term(jacobian, k));
    return numbers.map((a, j) => (Number.isFinite(a) && Math.abs(a) <= ROUNDING * sizes[j] ? 0 : a));
  }

  /** Return vᵀ·y, the number that backward differentiates. */
  total() {
    return this.y.data.reduce((sum, y, k) => sum + this.v[k] * y, 0);
  }

  isMoved() {
    return this.v.some((a, k) => !Object.is(a, this.seed[k])) || this.areInputsMoved();
  }

  areInputsMoved() {
    return Object.keys(this.document.inputs).some((name) => this.values.get(name) !== this.start.get(name));
  }

  setV(v) {
    this.v = v;
    this.walkBack();
  }

  /** Move an entry of an input; all that follows from it is worked out again. */
  setInput(name, place, number) {
    const before = this.values.get(name);
    this.values.set(name, {shape: before.shape, data: before.data.with(place, number)});
    this.runAgain();
  }

  /** Go back to the point and the v of the answer. */
  reset() {
    for (const [name, value] of this.start) this.values.set(name, value);
    this.v = [...this.seed];
    if (!this.stuck) this.runAgain();
    this.walkBack();
  }

  /** Read the lines of Backward; those that do not give their own number here are left as they stand. */
  readBackward() {
    for (const line of this.lines) line.tree = line.formula === null ? null : attempt(() => parse(line.formula));
    this.walkBack((line, found) => isClose(found, line.recorded));
  }

  /** Send v back through the lines of Backward, those that `isRight` says to give what they should. */
  walkBack(isRight = () => true) {
    const names = new Map(this.values);
    this.cotangents.clear();
    for (const [k, line] of this.lines.entries()) {
      const made = line.definition !== null && !names.has(line.name) ? valueOf(line.definition, names) : null;
      if (made) names.set(line.name, made);
      const found =
        line.tree &&
        attempt(() => {
          const seed = {shape: this.output.shape, data: this.v};
          return broadcast(k === 0 ? seed : evaluate(line.tree, names), line.shape);
        });
      if (!found || !isRight(line, found)) {
        line.tree = null;
        continue;
      }
      names.set(`${line.name}.grad`, found);
      this.cotangents.set(line.name, found);
    }
  }

  /** Return why no input can move, in words; null where they can. */
  whatKeepsInputs() {
    const {document} = this;
    const inputs = Object.values(document.inputs);
    if (inputs.reduce((sum, input) => sum + sizeOf(input.shape), 0) > MOST_MOVING) {
      return `the inputs have more than ${MOST_MOVING} entries together`;
    }
    if (this.jacobians.some((jacobian) => !jacobian.formulas || jacobian.rows.length > MOST_EVALUATED)) {
      return "J has no formula for each of its entries";
    }
    const program = document.program.replace(/\bfor\s+\w+\s+in\s+range\(\s*\d+\s*\)/g, "");
    if (/\b(if|while|for|assert)\b/.test(program)) {
      return "the program has a branch or a loop, which could go another way";
    }
    try {
      this.readForward();
      this.readJacobians();
    } catch (error) {
      if (error instanceof Unknown) return error.message;
      throw error;
    }
    return slopesAgree(this) ? null : "the formulas of J hold at this point only";
  }

  readForward() {
    this.run = [];
    const names = new Map(Object.keys(this.document.inputs).map((name) => [name, this.values.get(name)]));
    for (const value of this.document.forward) {
      if (value.formula === null) continue;
      if (value.formula !== value.text) throw new Unknown(`${value.name} stands for a number in later formulas`);
      const tree = parse(value.formula);
      if ([...nodesOf(tree)].some(chooses)) throw new Unknown(`${value.name} takes one way or another by its numbers`);
      const found = evaluate(tree, names);
      if (!isClose(found, this.recorded.get(value.name))) {
        throw new Unknown(`the formula of ${value.name} does not give its number here`);
      }
      names.set(value.name, found);
      this.run.push({name: value.name, tree});
    }
  }

  readJacobians() {
    for (const jacobian of this.jacobians) {
      jacobian.trees = jacobian.formulas.map(parse);
      const named = Object.entries(jacobian.definitions).filter(([name]) => !this.recorded.has(name));
      jacobian.made = named.map(([name, formula]) => [name, parse(formula)]);
      const found = {data: this.jacobianAt(jacobian, this.values)};
      if (!isClose(found, {data: jacobian.values})) {
        throw new Unknown("the formulas of J do not give its numbers here");
      }
    }
  }

  /** Return all values of the program for other inputs. */
  forwardAt(inputs) {
    const names = new Map([...this.start, ...inputs]);
    for (const {name, tree} of this.run) names.set(name, evaluate(tree, names));
    return names;
  }

  jacobianAt(jacobian, values) {
    const names = new Map(values);
    for (const [name, tree] of jacobian.made) names.set(name, evaluate(tree, names));
    return jacobian.trees.map((tree) => evaluate(tree, names).data[0]);
  }

  inputsNow() {
    return Object.keys(this.document.inputs).map((name) => [name, this.values.get(name)]);
  }

  runAgain() {
    this.values = this.forwardAt(this.inputsNow());
    this.y = this.values.get(this.output.name) ?? this.y;
    for (const jacobian of this.jacobians) jacobian.values = this.jacobianAt(jacobian, this.values);
    this.walkBack();
    this.doubt = this.whyNotTrusted();
  }

  /** Whether derivatives have numbers: the formulas hold where the inputs are now, and no lecture asks for them. */
  get trusted() {
    return !this.doubt && !this.isAsking;
  }

  /** Return why they do not hold, in words; nothing where they do. */
  whyNotTrusted() {
    if (!slopesAgree(this)) {
      const hasValue = this.y.data.every(Number.isFinite);
      return hasValue
        ? "Here the formulas are not the derivative any more: y moves by other slopes."
        : "Here y is not finite, or has no value: the formulas say nothing of its derivative.";
    }
    return this.linesAgree() ? "" : "Here the lines of Backward do not give vᵀ·J: they are the answer's.";
  }

  /** Return whether the lines of Backward still give vᵀ·J: a mask that is written out in one is that of the answer. */
  linesAgree() {
    return this.jacobians.every((jacobian) => {
      const line = this.cotangents.get(jacobian.name);
      return !line || isClose(line, {data: this.vjp(jacobian)}, 1e-6);
    });
  }
}

function shapeOf(nested) {
  return Array.isArray(nested) ? [nested.length, ...(nested.length ? shapeOf(nested[0]) : [])] : [];
}

/** Return what a function finds, or null where it meets something that is not known here. */
function attempt(find) {
  try {
    return find();
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}
