// What was asked for beside the answer: rows of J, J·u, H and gradient descent, all at the answer's point and v.

import {h, svg} from "./dom.js";
import {formulaElement} from "./formula.js";
import {counted} from "./numbers.js";
import {nested} from "./records.js";

const MOST_ROWS = 50; // of a table; of more the first and the last
const MOST_CELLS = 144; // of H, with a formula in each
const [WIDE, HIGH] = [320, 120]; // of the chart

const entryText = (name, index) => name + (index.length ? `[${index}]` : "");
const parts = (record, several) => Object.entries(record).map(([name, value]) => [several ? ` of ${name}` : "", value]);

/** Return lines as a table; of many the first and the last. */
function table(label, heads, lines) {
  const gap = [h("tr", {}, h("td", {colspan: heads.length}, `… ${counted(lines.length - MOST_ROWS)} more`))];
  const half = MOST_ROWS / 2;
  const rows = lines.map((cells) => h("tr", {}, ...cells.map((cell) => h("td", {class: "n"}, cell))));
  const shown = rows.length > MOST_ROWS ? [...rows.slice(0, half), ...gap, ...rows.slice(-half)] : rows;
  const head = h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", {scope: "col"}, text))));
  const whole = h("table", {class: "records view"}, head, h("tbody", {}, ...shown));
  return h("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": label}, whole);
}

/** Return how far the numbers of a view are right. */
function proof({verdict, finite, digits}, notes) {
  if (verdict !== "agree") return h("p", {class: "warning"}, "These numbers are not confirmed: see the notes.");
  if (!finite) return h("p", {}, "Not finite at this point.");
  const bent = notes.some(({kind}) => kind === "kink" || kind === "jump");
  if (digits === null || bent) return h("p", {}, `✓ both routes agree${bent ? "; at a kink by convention" : ""}`);
  return h("p", {}, `✓ ${Math.min(15, Math.floor(digits))} right digits, in arithmetic with digits to spare`);
}

function rowsView({calls, passes, colouring, agreement}, {output, given}) {
  const names = Object.keys(given.jacobian);
  const lines = calls.map(({index, grad}) => [entryText(output, index), ...names.map((name) => nested(grad[name]))]);
  const enough = colouring !== null && colouring < passes ? `; ${counted(colouring)} where rows share no column` : "";
  return [
    table("rows of J", ["v one-hot at", ...names.map((name) => `${name}.grad`)], lines),
    h("p", {}, `Calls of backward for all of J: ${counted(passes)}, one for each row${enough}.`),
    proof(agreement, []),
  ];
}

function tangentView(jvp, {given}) {
  const lines = jvp.passes.map(({name, tangent, cotangent}) => [name, nested(tangent), nested(cotangent)]);
  return [
    table("both passes", ["value", "forward, along u", "backward, from v"], lines),
    h("p", {}, h("b", {}, `J·u = ${nested(jvp.value)}`)),
    h("p", {}, `v·(J·u) = (vᵀ·J)·u = ${nested(jvp.v_dot_jvp)}: both passes give this one number.`),
    h(
      "p",
      {},
      `All of J takes ${counted(jvp.forward_passes)} forward passes, or ${counted(jvp.backward_passes)} backward.`,
    ),
    proof(jvp.agreement, given.notes),
  ];
}

/** Return one block of H as a table of formulas with their numbers, or of numbers where they are many. */
function blockView(of, one, other, block, axes) {
  const name = `∂²${of}/∂${one}∂${other}`;
  const size = block.shape.reduce((product, length) => product * length, 1);
  const head = h("h3", {}, `${name}, ${block.structure}`);
  if (block.numeric === null || size > MOST_CELLS)
    return [head, h("p", {}, h("code", {}, nested(block.numeric ?? "")))];
  const [numbers, formulas] = [block.numeric, block.symbolic].map((part) => [part].flat(Infinity));
  const entries = numbers.flatMap((value, k) => {
    if (Number(value) === 0 && (formulas[k] ?? "0") === "0") return [];
    const formula = formulas[k] === null || Number(formulas[k]) === Number(value) ? "" : formulaElement(formulas[k]);
    return [[placeText(k, block.shape, axes, one, other), formula, nested(value)]];
  });
  return [head, entries.length ? table(name, ["by", "formula", "value"], entries) : h("p", {}, "All entries are 0.")];
}

/** Return the names of the two entries that entry k of a block is by; axes are those of the first. */
function placeText(k, shape, axes, one, other) {
  const index = shape.map((length, axis) => {
    const below = shape.slice(axis + 1).reduce((product, n) => product * n, 1);
    return Math.floor(k / below) % length;
  });
  return `${entryText(one, index.slice(0, axes))}, ${entryText(other, index.slice(axes))}`;
}

function hessianView(hessian, {given}) {
  const {of, blocks, definitions, symmetric, u, product} = hessian;
  const names = Object.keys(blocks);
  const shown = names.flatMap((one, i) => names.slice(symmetric ? i : 0).map((other) => [one, other]));
  const several = names.length > 1;
  return [
    ...shown.flatMap(([one, other]) => blockView(of, one, other, blocks[one][other], given.inputs[one].shape.length)),
    several && symmetric ? h("p", {}, "The other blocks are the transposes of these: H is symmetric.") : null,
    ...Object.entries(definitions).map(([name, text]) => h("p", {}, h("code", {}, `${name} = ${text}`))),
    ...(product === null ? [] : parts(u, several)).map(([which, value]) => h("p", {}, `u${which} = ${nested(value)}`)),
    ...(product === null ? [] : parts(product, several)).map(([which, value]) =>
      h("p", {}, h("b", {}, `H·u${which} = ${nested(value)}`)),
    ),
    proof(hessian.agreement, given.notes),
  ];
}

/** Return the values of a descent as a line, lowest below. */
function chart(values, label) {
  const finite = values.map(Number).filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const point = (value, k) => [
    (k * WIDE) / Math.max(1, values.length - 1),
    high > low ? HIGH - ((value - low) * HIGH) / (high - low) : HIGH / 2,
  ];
  const points = values.map(Number).flatMap((value, k) => (Number.isFinite(value) ? [point(value, k)] : []));
  const line = points.map((pair) => pair.map((number) => number.toFixed(1)).join(",")).join(" ");
  return h(
    "figure",
    {class: "chart"},
    svg(
      "svg",
      {viewBox: `-6 -6 ${WIDE + 12} ${HIGH + 12}`, role: "img", "aria-label": label},
      svg("polyline", {points: line}),
      ...points.map(([x, y]) => svg("circle", {cx: x.toFixed(1), cy: y.toFixed(1), r: 3})),
    ),
    h("figcaption", {}, label),
  );
}

function descentView({lr, steps, inputs, value, ending}, {given, output}) {
  const name = given.output.shape.length || Number(given.v.value) !== 1 ? `L = v·${output}` : output;
  const all = [...steps, {inputs, value}];
  const names = Object.keys(inputs);
  const lines = all.map((step, k) => [
    String(k),
    ...names.map((one) => nested(step.inputs[one])),
    nested(step.value),
    k ? nested(steps[k - 1].predicted) : "",
    k ? nested(steps[k - 1].actual) : "",
  ]);
  const label = `${name} in ${steps.length} steps with lr = ${lr}: from ${nested(all[0].value)} to ${nested(value)}`;
  return [
    all.length > 1
      ? chart(
          all.map((step) => step.value),
          label,
        )
      : null,
    table("gradient descent", ["step", ...names, name, "predicted", "actual"], lines),
    ending ? h("p", {}, `It ends after ${steps.length} steps: ${ending}.`) : null,
  ];
}

const VIEWS = {one_hot: rowsView, jvp: tangentView, hessian: hessianView, descent: descentView};

/** Return what the document holds beside the answer, as [key, nodes] pairs. */
export function viewsOf(given, output) {
  const held = Object.entries(VIEWS).filter(([key]) => given[key]);
  return held.map(([key, view]) => [key, view(given[key], {given, output}).filter(Boolean)]);
}
