// Where the nodes of a layered picture stand: a layer for each step of the longest way, few crossings within.

const SWEEPS = 6;

/**
 * Return the layer of each node. An inner node stands one after its last parent, a leaf just before its first child.
 * `edges` is a list of [from, to] over nodes that come in the order of the program.
 */
export function layersOf(names, edges) {
  const layer = new Map(names.map((name) => [name, 0]));
  for (const name of names) {
    const parents = edges.filter(([, to]) => to === name).map(([from]) => layer.get(from) + 1);
    layer.set(name, Math.max(0, ...parents));
  }
  for (const name of names) {
    const isLeaf = !edges.some(([, to]) => to === name);
    const children = edges.filter(([from]) => from === name).map(([, to]) => layer.get(to) - 1);
    if (isLeaf && children.length) layer.set(name, Math.min(...children));
  }
  return layer;
}

/**
 * Return places for all nodes, and for each edge the points that it runs through.
 *
 * `size(name)` is the length of a node along its layer and across; `gap(k)` the room between layer k and the next.
 * Edges over several layers get a place in each, so that they do not run behind nodes.
 */
export function place(names, edges, size, gap, between = 26) {
  const layer = layersOf(names, edges);
  const rows = Array.from({length: Math.max(0, ...layer.values()) + 1}, () => []);
  for (const name of names) rows[layer.get(name)].push({name, ...size(name)});
  const routes = edges.map(([from, to]) => {
    const passed = [];
    for (let k = layer.get(from) + 1; k < layer.get(to); k++) {
      const knee = {name: null, along: 10, across: 0};
      rows[k].push(knee);
      passed.push(knee);
    }
    return {from, to, passed};
  });
  const nodes = new Map(
    rows
      .flat()
      .filter((node) => node.name !== null)
      .map((node) => [node.name, node]),
  );
  const chains = routes.map(({from, to, passed}) => [nodes.get(from), ...passed, nodes.get(to)]);
  order(rows, chains);
  const widest = Math.max(0, ...rows.map((row) => lengthOf(row, between)));
  let across = 0;
  rows.forEach((row, k) => {
    const deep = Math.max(0, ...row.map((node) => node.across));
    let along = (widest - lengthOf(row, between)) / 2;
    for (const node of row) {
      node.start = along;
      node.middle = along + node.along / 2;
      node.layer = across;
      node.deep = deep;
      along += node.along + between;
    }
    across += deep + gap(k);
  });
  return {nodes, chains, along: widest, across: across - gap(rows.length - 1)};
}

const lengthOf = (row, between) => row.reduce((sum, node) => sum + node.along, 0) + between * (row.length - 1);

/** Put nodes near those that they are linked with, from both sides in turn. */
function order(rows, chains) {
  const links = new Map(rows.flat().map((node) => [node, {before: [], after: []}]));
  for (const chain of chains) {
    for (let k = 1; k < chain.length; k++) {
      links.get(chain[k]).before.push(chain[k - 1]);
      links.get(chain[k - 1]).after.push(chain[k]);
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const side = sweep % 2 ? "after" : "before";
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const centre = new Map();
      row.forEach((node, k) => {
        const near = links.get(node)[side];
        const places = near
          .map((other) => rows.find((own) => own.includes(other)))
          .map((own, i) => own.indexOf(near[i]) / own.length);
        centre.set(node, places.length ? places.reduce((a, b) => a + b, 0) / places.length : k / row.length);
      });
      row.sort((a, b) => centre.get(a) - centre.get(b));
    }
  }
}
