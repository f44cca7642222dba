// The page: reads the answer's document, builds each part of it, and follows v and the inputs.

import {Answer} from "./answer.js";
import {chosenV, inputSliders, vButtons} from "./controls.js";
import {h, live, liveText, rove} from "./dom.js";
import {largeView} from "./large.js";
import {lecture} from "./lecture.js";
import {lightOnFocus} from "./lighting.js";
import {MOST_ROWS, isSmall, matrixTable, sums} from "./matrix.js";
import {arrayText, shapeText, short} from "./numbers.js";
import {picture} from "./picture.js";
import {nested, records} from "./records.js";
import {viewsOf} from "./views.js";

const MOST_TERMS = 8;
const LONG_PROGRAM = 9; // lines from which the program scrolls
const SAID_AFTER = 600; // milliseconds without a move, after which a screen reader hears the new gradient

const answer = new Answer(JSON.parse(document.getElementById("answer").textContent));
const given = answer.document;
const put = (id, ...nodes) => document.getElementById(id).append(...nodes);
const show = (id, ...nodes) => {
  document.getElementById(id).hidden = false;
  put(`${id}-body`, ...nodes);
};

function head() {
  const program = given.timeline?.title || given.program;
  put("program", program);
  if (given.timeline?.lines.length) show("timeline", h("pre", {class: "plain"}, given.timeline.lines.join("\n")));
  if (program.split("\n").length > LONG_PROGRAM) document.getElementById("program").tabIndex = 0;
  document.title = `${program.split("\n").at(-1).slice(0, 60)} · gradcli`;
  const inputs = Object.entries(given.inputs);
  const shapes = (wanted) =>
    inputs
      .filter(([, input]) => input.differentiated === wanted)
      .map(([name, {shape}]) => `${name} ${shapeText(shape)}`)
      .join("  ");
  const constants = shapes(false);
  put(
    "shapes",
    `${shapes(true)}  →  ${answer.output.name} ${shapeText(answer.output.shape)}`,
    ...(constants ? [h("span", {class: "quiet"}, `   ${constants} constant`)] : []),
  );
  put("version", given.version);
}

const VERDICTS = {
  differ: "J and reverse mode disagree here: the notes say more.",
  "digits-lost": "Rounding has cost so many digits that a number is wrong: the notes say more.",
  unclear: "The digits that are left prove nothing: the notes say more.",
};

function verdict() {
  const {verdict: word, finite, digits} = given.agreement;
  const node = document.getElementById("verdict");
  if (word !== "agree" || !finite) {
    node.className = "warning";
    node.textContent = VERDICTS[word] ?? "A value or a derivative is not finite at this point.";
    return;
  }
  const right = digits?.grad ? `, ${Math.floor(digits.grad)} digits right` : "";
  node.textContent = `✓ vᵀ·J is what reverse mode leaves in .grad${right}`;
}

function matrices() {
  put("v-buttons", vButtons(answer));
  const small = answer.jacobians.filter(isSmall);
  if (!small.length)
    put("v-buttons", answer.output.size > MOST_ROWS || !answer.output.size ? chosenOrNone() : chosenV(answer));
  put(
    "matrices",
    ...answer.jacobians.map((jacobian) =>
      isSmall(jacobian) ? matrixTable(answer, jacobian, jacobian === small[0]) : largeView(answer, jacobian),
    ),
  );
  if (answer.output.size > 1 && small.length) show("sums", ...small.map((jacobian) => sums(answer, jacobian)));
}

const chosenOrNone = () => (answer.output.size ? chosenV(answer) : "");

/** Return names, formulas and values as lines; what is long folds away. */
function lines(rows) {
  const body = rows.map(([name, formula, shape, value]) =>
    h(
      "tr",
      {role: "row"},
      h("th", {scope: "row", role: "rowheader"}, h("code", {}, name)),
      h("td", {role: "cell"}, formula === null ? "" : h("code", {}, formula)),
      h("td", {class: "quiet", role: "cell"}, shape.length ? shapeText(shape) : ""),
      liveText("td", {class: "n", role: "cell"}, value),
    ),
  );
  const heads = ["name", "formula", "shape", "value"].map((text) =>
    h("th", {scope: "col", role: "columnheader"}, text),
  );
  return h(
    "table",
    {class: "lines", role: "table"},
    h("thead", {class: "unseen", role: "rowgroup"}, h("tr", {role: "row"}, ...heads)),
    h("tbody", {role: "rowgroup"}, ...body),
  );
}

function passes() {
  put(
    "forward",
    lines(
      given.forward.map((value) => [
        value.name,
        value.text,
        value.shape,
        () => arrayText(answer.values.get(value.name) ?? answer.recorded.get(value.name)),
      ]),
    ),
  );
  put(
    "backward",
    lines(answer.lines.map((line) => [`${line.name}.grad`, line.formula, line.shape, () => lineText(line)])),
  );
}

function lineText(line) {
  const found = answer.trusted ? answer.cotangents.get(line.name) : undefined;
  if (found) return arrayText(found);
  return answer.isMoved() || answer.isAsking ? "?" : arrayText(line.recorded);
}

function meaning() {
  const {output} = answer;
  const grads = answer.jacobians.map(({name}) => `${name}.grad = ∂L/∂${name}`).join(", ");
  const total = () => {
    const places = answer.v.map((_, k) => k);
    const kept = places.length <= MOST_TERMS ? places : [0, 1, 2];
    const terms = kept.map((k) => {
      const weight = short(answer.v[k]);
      return `${weight.startsWith("-") ? `(${weight})` : weight}·${answer.rowName(k)}`;
    });
    if (kept.length < places.length) terms.push("…");
    return `L = v·${output.name} = ${terms.join(" + ")} = ${short(answer.total())}`;
  };
  put(
    "meaning",
    liveText("p", {class: "total"}, total),
    h("p", {}, `Backward differentiates this one number: ${grads}.`),
  );
  const {nudge, shared} = given.effect ?? {};
  if (nudge) {
    const entry = nudge.name + (nudge.index.length ? `[${nudge.index}]` : "");
    const measured =
      nudge.measured === null ? "" : `; running the program there measures ${short(Number(nudge.measured), 4)}`;
    put(
      "meaning",
      h(
        "p",
        {},
        `With the answer's v, moving ${entry} by ${short(nudge.step)} moves L by `,
        `${short(Number(nudge.slope))} times as much, ${short(Number(nudge.predicted), 4)}${measured}.`,
      ),
    );
  }
  if (shared) {
    const rows = shared.rows.slice(0, 3).map((index) => output.name + (index.length ? `[${index}]` : ""));
    const entry = shared.name + (shared.index.length ? `[${shared.index}]` : "");
    put(
      "meaning",
      h(
        "p",
        {},
        `v = ones does not give “the derivatives”: ${rows.join(", ")}${shared.count > 3 ? " and more" : ""} `,
        `depend on ${entry}, and ${shared.name}.grad adds them up.`,
      ),
    );
  }
}

function calls() {
  if (given.backward.length < 2) return;
  const heads = ["v", ...answer.jacobians.flatMap(({name}) => ["adds", `${name}.grad then`])];
  const rows = given.backward.map((call) =>
    h(
      "tr",
      {},
      h("td", {class: "n"}, nested(call.v)),
      ...answer.jacobians.flatMap(({name}) => [
        h("td", {class: "n"}, nested(call.grad[name])),
        h("td", {class: "n"}, nested(call.accumulated[name])),
      ]),
    ),
  );
  show(
    "calls",
    h(
      "table",
      {class: "lines"},
      h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", {scope: "col"}, text)))),
      h("tbody", {}, ...rows),
    ),
  );
}

/** Put what the document has beside J: each is a fold that is there where its key is, as of the answer's point. */
function folds() {
  for (const [key, nodes] of viewsOf(given, answer.output.name)) show(key, ...nodes);
  for (const key of ["steps", "tape"]) {
    const list = Array.isArray(given[key]) ? given[key] : (given[key]?.rows ?? []);
    if (list.length) show(key, records(list, key));
  }
  const definitions = Object.entries(answer.jacobians[0]?.definitions ?? {});
  if (definitions.length) {
    show(
      "definitions",
      h(
        "ul",
        {class: "rules"},
        ...definitions.map(([name, formula]) => h("li", {}, h("code", {}, `${name} = ${formula}`))),
      ),
    );
  }
  if (given.notes.length) show("notes", h("ul", {}, ...given.notes.map((note) => h("li", {}, note.message))));
}

/** Say the new gradient to those who do not see it, once it stands still. */
function say() {
  const region = document.getElementById("said");
  let waiting;
  let isFirst = true;
  live(() => {
    clearTimeout(waiting);
    if (isFirst) {
      isFirst = false;
      return;
    }
    waiting = setTimeout(() => {
      region.textContent = answer.jacobians
        .map(
          (jacobian) => `${jacobian.name}.grad is ${arrayText({shape: [jacobian.width], data: answer.vjp(jacobian)})}`,
        )
        .join("; ");
    }, SAID_AFTER);
  });
}

/** Let a button go round: as the system has it, light, dark. */
function theme() {
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  let now = 0;
  button.addEventListener("click", () => {
    now = (now + 1) % themes.length;
    document.documentElement.dataset.theme = themes[now];
    button.textContent = `theme: ${themes[now]}`;
  });
}

/** Paper has no folds. */
function unfoldForPrint() {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const fold of closed) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
}

head();
verdict();
matrices();
put("inputs", inputSliders(answer));
put("graph", picture(answer));
rove(document.getElementById("graph"), ".node");
passes();
meaning();
calls();
folds();
say();
theme();
lecture(answer);
unfoldForPrint();
lightOnFocus(document.querySelector("main"));
