// Sliders: a number, and a range beside it. They move v and the inputs; everything else follows.

import {h, live, refresh} from "./dom.js";
import {placeText} from "./jacobian.js";
import {short} from "./numbers.js";

/** Return a number field and a range for one number. `reach` is how far the range goes to each side. */
export function slider({label, start, from, to, read, write, row, column}) {
  const about = {"data-row": row, "data-column": column};
  const step = (to - from) / 200;
  const number = h("input", {type: "number", step: "any", class: "number", "aria-label": label, ...about});
  const range = h("input", {
    type: "range",
    class: "range",
    min: from,
    max: to,
    step,
    "aria-label": `${label}, slider`,
    ...about,
  });
  live(() => {
    const value = read();
    if (document.activeElement !== number || Number(number.value) !== value) number.value = short(value);
    range.min = Math.min(from, value);
    range.max = Math.max(to, value);
    range.value = value;
    range.setAttribute("aria-valuetext", short(value));
  });
  const move = (event) => {
    const value = event.target.valueAsNumber;
    if (!Number.isFinite(value)) return;
    write(event.target === range && Math.abs(value - start) < step / 2 ? start : Number(value.toPrecision(12)));
    refresh();
  };
  number.addEventListener("input", move);
  range.addEventListener("input", move);
  return h("span", {class: "slider"}, number, range);
}

/** Return the slider of v of one row. */
export function vSlider(answer, row) {
  const reach = 2 * Math.max(Math.abs(answer.seed[row]), 1);
  return slider({
    label: `v${placeText(row, answer.output.shape)}, the weight of ${answer.rowName(row)}`,
    start: answer.seed[row],
    from: -reach,
    to: reach,
    row: String(row),
    read: () => answer.v[row],
    write: (value) => answer.setV(answer.v.with(row, value)),
  });
}

/** Return the usual choices of v as buttons. */
export function vButtons(answer) {
  const {size} = answer.output;
  const choose = (v) => () => {
    answer.setV(v);
    refresh();
  };
  const button = (text, title, v, row) => {
    const node = h("button", {type: "button", title, "data-row": row}, text);
    node.addEventListener("click", choose(v));
    live(() => node.setAttribute("aria-pressed", String(v.every((a, k) => a === answer.v[k]))));
    return node;
  };
  const given = {given: "as given", default: "v = 1", reshaped: "as given", accumulated: "all calls together"};
  const buttons = [button(given[answer.document.v.source] ?? "as given", "the v of the answer", [...answer.seed])];
  if (size > 1) {
    buttons.push(button("ones", `the gradient of ${answer.output.name}.sum()`, Array(size).fill(1)));
    buttons.push(button("mean", `the gradient of ${answer.output.name}.mean()`, Array(size).fill(1 / size)));
  }
  const hot = (row) => Array.from({length: size}, (_, k) => (k === row ? 1 : 0));
  if (size > 1 && size <= 24) {
    for (let row = 0; row < size; row++) {
      const name = answer.rowName(row);
      buttons.push(button(`row ${name}`, `one-hot: the row of J that belongs to ${name}`, hot(row), String(row)));
    }
  }
  return h("div", {class: "buttons", role: "group", "aria-label": "usual choices of v"}, ...buttons);
}

/** Return one slider of v for a y with many entries, and which entry it moves. */
export function chosenV(answer) {
  const {size} = answer.output;
  let row = 0;
  const place = h("input", {type: "number", min: 0, max: size - 1, value: 0, class: "number", id: "v-place"});
  const named = h("output", {for: "v-place"});
  const holder = h("span");
  const hot = h("button", {type: "button"}, "only this one");
  const show = () => {
    named.textContent = `${answer.rowName(row)}, v = `;
    holder.replaceChildren(vSlider(answer, row));
  };
  place.addEventListener("input", () => {
    const wanted = place.valueAsNumber;
    if (!Number.isInteger(wanted) || wanted < 0 || wanted >= size) return;
    row = wanted;
    show();
  });
  hot.addEventListener("click", () => {
    answer.setV(answer.v.map((_, k) => (k === row ? 1 : 0)));
    refresh();
  });
  show();
  return h(
    "p",
    {class: "chosen"},
    h("label", {for: "v-place"}, "entry of y, counted from 0: "),
    place,
    " ",
    named,
    holder,
    hot,
  );
}

/** Return a slider for each entry of the inputs, or in words why there is none. */
export function inputSliders(answer) {
  if (answer.stuck) {
    return h(
      "p",
      {class: "quiet"},
      `The inputs stand still on this page: ${answer.stuck}. Run gradcli at another point.`,
    );
  }
  const groups = Object.entries(answer.document.inputs).map(([name, {shape}]) => {
    const rows = answer.start.get(name).data.map((start, place) => {
      const entry = name + placeText(place, shape);
      const reach = 2 * Math.max(Math.abs(start), 0.5);
      const moving = slider({
        label: entry,
        start,
        from: start - reach,
        to: start + reach,
        column: `${name}:${place}`,
        read: () => answer.values.get(name).data[place],
        write: (value) => answer.setInput(name, place, value),
      });
      return h("div", {class: "moving"}, h("code", {"aria-hidden": "true"}, entry), moving);
    });
    return h("fieldset", {}, h("legend", {}, h("code", {}, name)), ...rows);
  });
  const back = h("button", {type: "button"}, "back to the answer");
  back.addEventListener("click", () => {
    answer.reset();
    refresh();
  });
  live(() => {
    back.disabled = !answer.isMoved();
  });
  const warning = h("p", {class: "warning", role: "status"});
  live(() => {
    warning.textContent = answer.doubt && `${answer.doubt} Run gradcli at this point.`;
    warning.hidden = !answer.doubt;
  });
  return h("div", {}, h("div", {class: "groups"}, ...groups), warning, back);
}
