// A large J: what it looks like from afar, its rules, and a few of its entries at a time.

import {h, live, svg} from "./dom.js";
import {formulaElement} from "./formula.js";
import {rulesList} from "./matrix.js";
import {counted, short} from "./numbers.js";

const MOST_SQUARES = 64; // of the picture, to each side
const LEVELS = 4; // of a square, by its size beside the largest
const MOST_SHOWN = 50;
const MOST_LEADING = 5;

/** Return where J has entries, deeper the larger they are: a square for each, or for the largest of a block. */
function spy(answer, jacobian) {
  const {height, width, rows, columns, values} = jacobian;
  const [down, across] = [Math.min(height, MOST_SQUARES), Math.min(width, MOST_SQUARES)];
  const tops = new Map();
  for (let k = 0; k < rows.length; k++) {
    const place = Math.floor((rows[k] * down) / height) * across + Math.floor((columns[k] * across) / width);
    if (Math.abs(values[k]) >= Math.abs(tops.get(place) ?? 0)) tops.set(place, values[k]);
  }
  const largest = [...tops.values()].reduce((most, value) => Math.max(most, Math.abs(value)), 1e-300);
  const squares = new Map();
  for (const [place, value] of tops) {
    const level = Math.max(1, Math.ceil((Math.abs(value) / largest) * LEVELS)) || LEVELS;
    const kind = `level${level}${value < 0 ? " below" : ""}`;
    const square = `M${place % across} ${Math.floor(place / across)}h1v1h-1z`;
    squares.set(kind, (squares.get(kind) ?? "") + square);
  }
  return h(
    "figure",
    {class: "spy"},
    svg(
      "svg",
      {
        viewBox: `-0.5 -0.5 ${across + 1} ${down + 1}`,
        role: "img",
        "aria-label": `where J by ${jacobian.name} has entries: ${jacobian.structure}`,
      },
      svg("rect", {width: across, height: down, class: "ground"}),
      ...[...squares].map(([kind, d]) => svg("path", {d, class: kind})),
    ),
    h(
      "figcaption",
      {},
      `${counted(height)} rows of ${answer.output.name}, ${counted(width)} columns of ${jacobian.name}`,
    ),
  );
}

/** Return the largest entries of vᵀ·J, which follow v. */
function leading(answer, jacobian) {
  const list = h("ol", {class: "leading"});
  live(() => {
    const sums = answer.vjp(jacobian);
    const order = sums.map((_, j) => j).sort((a, b) => Math.abs(sums[b]) - Math.abs(sums[a]) || a - b);
    list.replaceChildren(
      ...order
        .slice(0, MOST_LEADING)
        .map((j) =>
          h("li", {}, h("code", {}, jacobian.entryName(j)), " ", h("b", {}, answer.trusted ? short(sums[j]) : "?")),
        ),
    );
  });
  return h("div", {}, h("h4", {}, "Largest entries of vᵀ·J"), list);
}

/** Return a bar for each entry of vᵀ·J, or for a block of them, which follow v. */
function profile(answer, jacobian) {
  const bins = Math.min(jacobian.width, 120);
  const path = svg("path", {class: "profile"});
  live(() => {
    const sums = answer.vjp(jacobian);
    const tops = new Array(bins).fill(0);
    sums.forEach((sum, j) => {
      const bin = Math.floor((j * bins) / jacobian.width);
      if (Math.abs(sum) > Math.abs(tops[bin])) tops[bin] = sum;
    });
    const largest = Math.max(...tops.map(Math.abs), 1e-300);
    path.setAttribute("d", tops.map((top, k) => `M${k} 20v${((-18 * top) / largest).toFixed(3)}h0.8V20z`).join(""));
  });
  const name = `vᵀ·J by ${jacobian.name}, a bar for each entry`;
  return svg(
    "svg",
    {viewBox: `0 0 ${bins} 40`, preserveAspectRatio: "none", role: "img", "aria-label": name, class: "bars"},
    path,
  );
}

/** Return a search over the entries of J: by names such as y[3] and x[0], or by part of a formula. */
function search(answer, jacobian) {
  const id = `search-${jacobian.name}`;
  const field = h("input", {type: "search", id, placeholder: `${answer.rowName(0)}, or ${jacobian.entryName(0)}`});
  const said = h("p", {class: "quiet", role: "status"});
  const body = h("tbody");
  let found = [];
  const look = () => {
    const wanted = field.value.trim().split(/\s+/).filter(Boolean);
    const fits = (k) => {
      const names = [answer.rowName(jacobian.rows[k]), jacobian.entryName(jacobian.columns[k])];
      return wanted.every((word) => names.includes(word) || jacobian.formulas?.[k].includes(word));
    };
    found = [];
    let count = 0;
    for (let k = 0; k < jacobian.rows.length; k++) {
      if (!fits(k)) continue;
      if (count++ < MOST_SHOWN) found.push(k);
    }
    const rest = count > MOST_SHOWN ? `, the first ${MOST_SHOWN} shown` : "";
    said.textContent = `${counted(count)} of ${counted(jacobian.rows.length)} entries${rest}`;
    draw();
  };
  const draw = () =>
    body.replaceChildren(
      ...found.map((k) =>
        h(
          "tr",
          {"data-row": String(jacobian.rows[k]), "data-column": `${jacobian.name}:${jacobian.columns[k]}`},
          h("th", {scope: "row"}, h("code", {}, answer.rowName(jacobian.rows[k]))),
          h("td", {}, h("code", {}, jacobian.entryName(jacobian.columns[k]))),
          h("td", {}, jacobian.formulas ? formulaElement(jacobian.formulas[k]) : ""),
          h("td", {class: "n"}, answer.trusted ? short(jacobian.values[k]) : "?"),
          h("td", {class: "n"}, short(answer.v[jacobian.rows[k]])),
          h("td", {class: "n"}, answer.trusted ? short(answer.term(jacobian, k)) : "?"),
        ),
      ),
    );
  field.addEventListener("input", look);
  look();
  live(draw);
  const heads = ["output", "input", "formula", "J", "v", "v·J"].map((text) => h("th", {scope: "col"}, text));
  return h(
    "div",
    {class: "search"},
    h("p", {}, h("label", {for: id}, "entries of "), field),
    said,
    h(
      "div",
      {class: "scroll tall", role: "region", tabindex: "0", "aria-label": `entries of J by ${jacobian.name}`},
      h("table", {class: "found"}, h("thead", {}, h("tr", {}, ...heads)), body),
    ),
  );
}

/** Return the view of a large Jacobian. */
export function largeView(answer, jacobian) {
  const {height, width, rows, structure, passes} = jacobian;
  const calls = passes ? `, ${counted(passes)} ${passes === 1 ? "pass" : "passes"} of forward mode` : "";
  const size = `${counted(height)}×${counted(width)} ${structure}`;
  const head = `${size}, ${counted(rows.length)} of ${counted(height * width)} entries${calls}`;
  return h(
    "div",
    {class: "large"},
    h("h3", {}, `J = ∂${answer.output.name}/∂${jacobian.name}`),
    h("p", {}, head),
    rulesList(jacobian),
    h(
      "div",
      {class: "views"},
      rows.length ? spy(answer, jacobian) : null,
      h("div", {}, leading(answer, jacobian), profile(answer, jacobian)),
    ),
    search(answer, jacobian),
  );
}
