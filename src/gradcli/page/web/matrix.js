// J as a matrix of formulas and numbers, v beside its rows, and below what v makes of it: the sums.

import {h, live, liveText, rove} from "./dom.js";
import {formulaElement} from "./formula.js";
import {vSlider} from "./controls.js";
import {placeText} from "./jacobian.js";
import {short} from "./numbers.js";

export const MOST_ROWS = 24;
export const MOST_COLUMNS = 24;
const MOST_CELLS = 300;
const LONGEST = 40; // characters of a formula in its cell; below the table there is room for a longer one
const ROOMY = 3; // columns up to which there is room for larger letters
const CLOSE = 1e-9;

/** Return whether a Jacobian is small enough to be shown with all of its cells. */
export const isSmall = ({height, width}) =>
  height <= MOST_ROWS && width <= MOST_COLUMNS && height * width <= MOST_CELLS && height * width > 0;

/** Return a bar for a term: its share of the largest one of its column, in the colour of its sign. */
function bar(term, largest) {
  const node = h("span", {class: "bar", "aria-hidden": "true"});
  live(() => {
    const [value, whole] = [term(), largest()];
    node.style.setProperty("--share", whole > 0 && Number.isFinite(value) ? Math.abs(value) / whole : 0);
    node.classList.toggle("negative", value < 0);
  });
  return node;
}

const numberOf = (answer, jacobian, k) => (answer.trusted ? short(jacobian.values[k]) : "?");

function cell(answer, jacobian, row, column) {
  const k = jacobian.inRow[row].find((entry) => jacobian.columns[entry] === column);
  const about = {"data-row": String(row), "data-column": `${jacobian.name}:${column}`};
  if (k === undefined) {
    const never = `${answer.rowName(row)} does not depend on ${jacobian.entryName(column)}`;
    return h(
      "td",
      {class: "cell zero", title: never, ...about},
      h("span", {"aria-hidden": "true"}, "·"),
      h("span", {class: "unseen"}, "0"),
    );
  }
  const formula = jacobian.formulas?.[k];
  const plain = formula === undefined || formula === null || !Number.isNaN(Number(formula));
  const inCell = !plain && formula.length <= LONGEST;
  const largest = () => Math.max(...jacobian.inColumn[column].map((entry) => Math.abs(answer.term(jacobian, entry))));
  return h(
    "td",
    {class: "cell", title: plain ? null : formula, ...about},
    h(
      "span",
      {class: "entry"},
      inCell ? formulaElement(formula) : null,
      inCell ? h("span", {class: "equals"}, " = ") : null,
      liveText("b", {class: "value"}, () => numberOf(answer, jacobian, k)),
    ),
    answer.output.size === 1
      ? null
      : h(
          "span",
          {class: "term"},
          bar(() => answer.term(jacobian, k), largest),
          liveText("small", {}, () => `${short(answer.v[row])}·${numberOf(answer, jacobian, k)}`),
        ),
  );
}

/** Return the table of one Jacobian; `first` has the sliders of v, the others its numbers. */
export function matrixTable(answer, jacobian, first) {
  const columns = Array.from({length: jacobian.width}, (_, column) => column);
  const rows = Array.from({length: jacobian.height}, (_, row) => row);
  const heads = columns.map((column) =>
    h("th", {scope: "col", "data-column": `${jacobian.name}:${column}`}, h("code", {}, jacobian.entryName(column))),
  );
  const body = rows.map((row) => {
    const about = {"data-row": String(row)};
    const v = first ? vSlider(answer, row) : liveText("span", {class: "v"}, () => short(answer.v[row]));
    return h(
      "tr",
      {},
      h("td", {class: "weight", ...about}, v),
      h("th", {scope: "row", ...about}, h("code", {}, answer.rowName(row))),
      ...columns.map((column) => cell(answer, jacobian, row, column)),
    );
  });
  const table = h(
    "table",
    {class: jacobian.width <= ROOMY ? "matrix roomy" : "matrix"},
    h(
      "caption",
      {},
      `J = ∂${answer.output.name}/∂${jacobian.name}, ${jacobian.height}×${jacobian.width}`,
      first ? ": a row for each output, a column for each entry of the input" : "",
    ),
    h("thead", {}, h("tr", {}, h("th", {scope: "col", class: "weight"}, "v"), h("td", {}), ...heads)),
    h("tbody", {}, ...body),
    h("tfoot", {}, productRow(answer, jacobian, columns), gradRow(answer, jacobian, columns)),
  );
  rove(table, ".cell");
  return h(
    "div",
    {class: "of-variable"},
    rulesList(jacobian),
    h("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": `J by ${jacobian.name}`}, table),
    reading(answer, jacobian, table),
  );
}

export const rulesList = ({rules}) =>
  rules.length ? h("ul", {class: "rules"}, ...rules.map((rule) => h("li", {}, h("code", {}, rule)))) : null;

/** Return a line for the cell that is looked at, where some formulas are too long for their cells. */
function reading(answer, jacobian, table) {
  if (!jacobian.formulas?.some((formula) => formula.length > LONGEST)) return null;
  const line = h("p", {
    class: "reading",
    role: "region",
    tabindex: "0",
    "aria-label": `one entry of J by ${jacobian.name}`,
  });
  let shown = 0;
  const draw = () =>
    line.replaceChildren(
      h("code", {}, `∂${answer.rowName(jacobian.rows[shown])}/∂${jacobian.entryName(jacobian.columns[shown])}`),
      " = ",
      formulaElement(jacobian.formulas[shown]),
      " = ",
      h("b", {class: "value"}, numberOf(answer, jacobian, shown)),
    );
  const look = (event) => {
    const {row, column} = event.target.closest(".cell")?.dataset ?? {};
    const k = jacobian.rows.findIndex(
      (own, entry) => String(own) === row && `${jacobian.name}:${jacobian.columns[entry]}` === column,
    );
    if (k < 0) return;
    shown = k;
    draw();
  };
  table.addEventListener("pointerover", look);
  table.addEventListener("focusin", look);
  live(draw);
  return line;
}

function productRow(answer, jacobian, columns) {
  const cells = columns.map((column) => h("td", {"data-column": `${jacobian.name}:${column}`}));
  live(() => {
    const product = answer.vjp(jacobian);
    cells.forEach((node, column) => {
      node.textContent = answer.trusted ? short(product[column]) : "?";
    });
  });
  return h("tr", {class: "product"}, h("td"), h("th", {scope: "row"}, "vᵀ·J"), ...cells);
}

/** Return the row of x.grad: what reverse mode has, by the lines of Backward. */
function gradRow(answer, jacobian, columns) {
  const cells = columns.map((column) => h("td", {"data-column": `${jacobian.name}:${column}`}));
  const mark = h("td", {class: "mark"});
  live(() => {
    const grad = answer.trusted ? answer.grad(jacobian) : null;
    cells.forEach((node, column) => {
      node.textContent = grad ? short(grad[column]) : "?";
    });
    mark.textContent = grad && isSame(grad, answer.vjp(jacobian)) ? "✓" : "";
    mark.title = mark.textContent ? "by the lines of Backward: the same numbers" : "";
  });
  return h("tr", {class: "grad"}, mark, h("th", {scope: "row"}, h("code", {}, `${jacobian.name}.grad`)), ...cells);
}

function isSame(a, b) {
  const largest = Math.max(...b.filter(Number.isFinite).map(Math.abs), 1e-300);
  return a.every((value, k) => Object.is(value, b[k]) || Math.abs(value - b[k]) <= CLOSE * largest);
}

/** Return each sum of vᵀ·J with its terms: buttons that light what they are made of. */
export function sums(answer, jacobian) {
  const list = h("ul", {class: "sums"});
  for (let column = 0; column < jacobian.width; column++) {
    const about = {"data-column": `${jacobian.name}:${column}`};
    const terms = jacobian.inColumn[column].map((k) => {
      const row = jacobian.rows[k];
      const term = h("button", {type: "button", class: "factor", "data-row": String(row), ...about});
      const v = `v${placeText(row, answer.output.shape)}`;
      live(() => {
        const value = numberOf(answer, jacobian, k);
        term.textContent = `${short(answer.v[row])}·${value.startsWith("-") ? `(${value})` : value}`;
        term.setAttribute("aria-label", `${v} times the derivative of ${answer.rowName(row)}: ${term.textContent}`);
      });
      return term;
    });
    const total = liveText("b", {}, () => (answer.trusted ? short(answer.vjp(jacobian)[column]) : "?"));
    const name = `${jacobian.name}.grad${placeText(column, jacobian.shape)}`;
    list.append(
      h(
        "li",
        about,
        h("code", {}, name),
        " = ",
        ...(terms.length ? terms.flatMap((term, k) => (k ? [" + ", term] : [term])) : ["0"]),
        " = ",
        total,
        stackedBar(answer, jacobian, column),
      ),
    );
  }
  rove(list, ".factor");
  return list;
}

/** Return the terms of a sum side by side: those below 0 on the left of the middle, the others on the right. */
function stackedBar(answer, jacobian, column) {
  const parts = jacobian.inColumn[column].map((k) => [
    k,
    h("span", {class: "part", "data-row": String(jacobian.rows[k]), "data-column": `${jacobian.name}:${column}`}),
  ]);
  const halves = [h("span", {class: "half below"}), h("span", {class: "half above"})];
  live(() => {
    const whole = Math.max(
      ...jacobian.inColumn.map((entries) => entries.reduce((sum, k) => sum + Math.abs(answer.term(jacobian, k)), 0)),
      1e-300,
    );
    for (const [k, part] of parts) {
      const term = answer.term(jacobian, k);
      part.style.setProperty("--share", Number.isFinite(term) ? Math.abs(term) / whole : 0);
      part.classList.toggle("negative", term < 0);
      halves[term < 0 ? 0 : 1].append(part);
    }
  });
  return h("span", {class: "stack", "aria-hidden": "true"}, ...halves);
}
