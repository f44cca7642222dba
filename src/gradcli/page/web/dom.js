// Elements, in few words. Nothing here, and nothing on the page, reads a text as HTML.

const SVG = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Return an HTML element: h("p", {class: "note"}, "text", node). */
export const h = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

/** Return an SVG element. */
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

const updates = [];

/** Run an update now, and again whenever v or an input has moved. */
export function live(update) {
  updates.push(update);
  update();
}

/** Return an element whose text follows what moves. */
export function liveText(tag, attributes, text) {
  const node = h(tag, attributes);
  live(() => {
    node.textContent = text();
  });
  return node;
}

export function refresh() {
  for (const update of updates) update();
}

/** Make one stop of the tab key of many elements; the arrows, Home and End move between them. */
export function rove(container, selector) {
  const all = () => [...container.querySelectorAll(selector)];
  all().forEach((node, k) => node.setAttribute("tabindex", k ? "-1" : "0"));
  container.addEventListener("keydown", (event) => {
    const nodes = all();
    const at = nodes.indexOf(event.target);
    if (at < 0) return;
    const to = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: nodes.length - 1,
      ArrowDown: nextLine(nodes, at, 1),
      ArrowUp: nextLine(nodes, at, -1),
    }[event.key];
    if (nodes[to] === undefined) return;
    event.preventDefault();
    nodes[at].setAttribute("tabindex", "-1");
    nodes[to].setAttribute("tabindex", "0");
    nodes[to].focus();
  });
}

/** Return the number of the nearest element in the line below or above. */
function nextLine(nodes, at, way) {
  const boxes = nodes.map((node) => node.getBoundingClientRect());
  const own = boxes[at];
  const distance = (box) => Math.abs(box.top - own.top) * 1e4 + Math.abs(box.left - own.left);
  const beyond = boxes.map((box, k) => [k, box]).filter(([, box]) => way * (box.top - own.top) > own.height / 2);
  return beyond.length
    ? beyond.reduce((best, one) => (distance(one[1]) < distance(best[1]) ? one : best))[0]
    : undefined;
}
