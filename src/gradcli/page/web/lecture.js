// A lecture: the parts of the page one after another, the numbers of J after they were asked for.

import {refresh} from "./dom.js";

const ASKS = "matrix";
const NUMBERS = "numbers";
const ORDER = [["timeline", "forward"], [ASKS], [NUMBERS], ["sums"], ["graph"], ["backward"], ["meaning"]];
const TYPED = "input, select, textarea, summary";

/** Let the button of the lecture hide all parts, and next bring them back, as the right arrow does. */
export function lecture(answer) {
  const find = (id) => document.getElementById(id);
  const parts = [...document.querySelectorAll("main section:not([hidden])")];
  const partOf = (id) => parts.find((part) => part === find(id)?.closest("section"));
  const named = ORDER.map((ids) => ids.map((id) => (id === NUMBERS ? NUMBERS : partOf(id))).filter(Boolean));
  const steps = [...named, parts.filter((part) => !named.flat().includes(part))].filter((step) => step.length);
  let shown = steps.length;

  const ask = (isAsking) => {
    answer.isAsking = isAsking;
    refresh();
  };
  const go = (count) => {
    shown = count;
    steps.forEach((step, k) => {
      for (const part of step) if (part !== NUMBERS) part.classList.toggle("later", k >= count);
    });
    ask(steps.findIndex((step) => step.includes(NUMBERS)) >= count);
    const isOver = count === steps.length;
    find("lectern").hidden = isOver;
    find("lecture").setAttribute("aria-pressed", String(!isOver));
    const last = steps[count - 1]?.[0];
    const title = last === NUMBERS ? "the numbers of J" : last?.querySelector("h2, summary")?.textContent;
    find("lecture-said").textContent = isOver || !title ? "" : `${count} of ${steps.length}: ${title}`;
    (last === NUMBERS ? partOf(ASKS) : last)?.scrollIntoView({block: "nearest"});
    if (isOver) find("lecture").focus();
  };

  find("lecture").addEventListener("click", () => {
    const isOn = shown < steps.length;
    go(isOn ? steps.length : 0);
    if (!isOn) find("next").focus();
  });
  find("next").addEventListener("click", () => go(shown + 1));
  find("show-all").addEventListener("click", () => go(steps.length));
  addEventListener("keydown", (event) => {
    const isOn = shown < steps.length;
    if (!isOn || event.key !== "ArrowRight" || event.defaultPrevented || event.target.closest?.(TYPED)) return;
    event.preventDefault();
    go(shown + 1);
  });
}
