// What belongs together lights up together: a term, its cell of J, its v, and its path through the picture.
//
// An element says by data-row and data-column which entries of y and of an input it shows: a cell of J has both.

const isLit = ({row, column}, chosen) =>
  [
    [row, chosen.row],
    [column, chosen.column],
  ].every(([own, wanted]) => !own || !wanted || own === wanted) &&
  Boolean((row && row === chosen.row) || (column && column === chosen.column));

function light(root, chosen) {
  for (const node of root.querySelectorAll("[data-row], [data-column]")) {
    node.classList.toggle("lit", chosen !== null && isLit(node.dataset, chosen));
  }
  const through = chosen?.column?.split(":")[0];
  for (const node of root.querySelectorAll("[data-through]")) {
    node.classList.toggle("lit", through !== undefined && node.dataset.through.split(" ").includes(through));
  }
}

/** Light what the pointer or the keyboard stands on. */
export function lightOnFocus(root) {
  const find = (event) => event.target.closest?.("[data-row], [data-column]");
  for (const kind of ["pointerover", "focusin"]) {
    root.addEventListener(kind, (event) => light(root, find(event)?.dataset ?? null));
  }
  root.addEventListener("pointerleave", () => light(root, null));
  root.addEventListener("focusout", (event) => event.relatedTarget === null && light(root, null));
}
