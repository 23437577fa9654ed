// Layouts that others use, on graphs from standard input, for bench_canvas.py.
import { readFileSync } from "node:fs";
import * as d3 from "d3-force";
import dagre from "@dagrejs/dagre";
import ELK from "elkjs";

const GAP = 50;
const graphs = JSON.parse(readFileSync(0, "utf8"));

function separate(cards) {
  for (let round = 0; round < 600; round++) {
    let hit = false;
    for (let i = 0; i < cards.length; i++) {
      for (let j = i + 1; j < cards.length; j++) {
        const [a, b] = [cards[i], cards[j]];
        const dx = (a.w + b.w) / 2 + GAP - Math.abs(a.x - b.x);
        const dy = (a.h + b.h) / 2 + GAP - Math.abs(a.y - b.y);
        if (dx <= 0 || dy <= 0) continue;
        hit = true;
        const axis = dx < dy ? "x" : "y";
        const step = ((a[axis] < b[axis] ? -1 : 1) * Math.min(dx, dy)) / 2;
        a[axis] += step;
        b[axis] -= step;
      }
    }
    if (!hit) break;
  }
  return cards;
}

const cardsOf = (graph) => graph.sizes.map(([w, h]) => ({ w, h }));
const layouts = {
  "d3-force + separation": (graph) => {
    const cards = cardsOf(graph);
    const links = graph.edges.map(([source, target]) => ({ source, target }));
    d3.forceSimulation(cards)
      .force("link", d3.forceLink(links).distance(400))
      .force("charge", d3.forceManyBody().strength(-3000))
      .force("x", d3.forceX().strength(0.03))
      .force("y", d3.forceY().strength(0.03))
      .stop()
      .tick(300);
    return separate(cards);
  },
  dagre: (graph) => {
    const made = new dagre.graphlib.Graph();
    made.setGraph({ rankdir: "LR", nodesep: GAP, ranksep: 2 * GAP });
    made.setDefaultEdgeLabel(() => ({}));
    graph.sizes.forEach(([width, height], n) => made.setNode(String(n), { width, height }));
    graph.edges.forEach(([a, b]) => made.setEdge(String(a), String(b)));
    dagre.layout(made);
    return cardsOf(graph).map((card, n) => ({ ...card, x: made.node(String(n)).x, y: made.node(String(n)).y }));
  },
  "elk stress + separation": async (graph) => {
    const made = await new ELK().layout({
      id: "map",
      layoutOptions: { "elk.algorithm": "stress", "elk.stress.desiredEdgeLength": "400" },
      children: graph.sizes.map(([width, height], n) => ({ id: `n${n}`, width, height })),
      edges: graph.edges.map(([a, b], n) => ({ id: `e${n}`, sources: [`n${a}`], targets: [`n${b}`] })),
    });
    return separate(made.children.map((n) => ({ x: n.x + n.width / 2, y: n.y + n.height / 2, w: n.width, h: n.height })));
  },
};

const out = {};
for (const [name, lay] of Object.entries(layouts)) {
  out[name] = [];
  for (const [number, graph] of graphs.entries()) {
    if (name.startsWith("elk") && graph.sizes.length > 100 && number % 5 !== 0) continue;
    const start = performance.now();
    const cards = await lay(graph);
    out[name].push({ graph: number, ms: performance.now() - start, at: cards.map((card) => [card.x, card.y]) });
  }
}
console.log(JSON.stringify(out));
