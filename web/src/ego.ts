// The ego network: a node, its neighbors in the graph and the edges among them, placed by springs.

import { count, el, displayName, svg } from "./dom";
import type { EgoNetwork } from "./api_types";

const WIDE = 320;
const HIGH = 230;
const MARGIN = 16;
const STEPS = 160;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Places for the nodes in the unit square: the same for the same network. */
export function arrange(n: number, edges: [number, number][]): [number, number][] {
  const x = new Float64Array(n);
  const y = new Float64Array(n);
  for (let i = 1; i < n; i++) {
    const far = 0.3 + 0.7 * Math.sqrt(i / n);
    x[i] = far * Math.cos(i * GOLDEN);
    y[i] = far * Math.sin(i * GOLDEN);
  }
  for (let step = 0; step < STEPS; step++) relax(x, y, edges, 0.12 * (1 - step / STEPS));
  return scaled(x, y);
}

function relax(x: Float64Array, y: Float64Array, edges: [number, number][], most: number): void {
  const n = x.length;
  const dx = new Float64Array(n);
  const dy = new Float64Array(n);
  const ideal = 1.4 / Math.sqrt(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      const [ax, ay] = [x[i] - x[j], y[i] - y[j]];
      const push = (ideal * ideal) / (ax * ax + ay * ay + 1e-4);
      dx[i] += ax * push;
      dy[i] += ay * push;
      dx[j] -= ax * push;
      dy[j] -= ay * push;
    }
  }
  for (const [i, j] of edges) {
    const [ax, ay] = [x[i] - x[j], y[i] - y[j]];
    const pull = Math.hypot(ax, ay) / ideal;
    dx[i] -= ax * pull;
    dy[i] -= ay * pull;
    dx[j] += ax * pull;
    dy[j] += ay * pull;
  }
  for (let i = 1; i < n; i++) {
    const far = Math.hypot(dx[i], dy[i]) || 1;
    x[i] += (dx[i] / far) * Math.min(far, most);
    y[i] += (dy[i] / far) * Math.min(far, most);
  }
}

function scaled(x: Float64Array, y: Float64Array): [number, number][] {
  const span = (values: Float64Array): [number, number] => {
    const low = Math.min(...values);
    return [low, Math.max(...values) - low];
  };
  const [left, wide] = span(x);
  const [top, high] = span(y);
  return Array.from(x, (value, i) => [wide ? (value - left) / wide : 0.5, high ? (y[i] - top) / high : 0.5]);
}

/** The drawing; `go` is called with the row of a neighbor that is clicked. */
export function drawEgo(ego: EgoNetwork, colorOf: (row: number) => string, go: (row: number) => void): HTMLElement {
  const places = arrange(ego.nodes.length, ego.edges).map(([x, y]): [number, number] => [
    MARGIN + x * (WIDE - 2 * MARGIN),
    MARGIN + y * (HIGH - 2 * MARGIN),
  ]);
  const lines = ego.edges.map(([i, j]) =>
    svg("line", {
      class: i === 0 || j === 0 ? "spoke" : "chord",
      x1: places[i][0].toFixed(1),
      y1: places[i][1].toFixed(1),
      x2: places[j][0].toFixed(1),
      y2: places[j][1].toFixed(1),
    }),
  );
  const dots = ego.nodes.map((node, i) => {
    const [cx, cy] = places[i];
    const circle = svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: i === 0 ? 7 : 5, fill: colorOf(node.row) });
    const title = svg("title", {}, displayName(node.node));
    if (i === 0) return svg("g", { class: "center" }, title, circle);
    const group = svg(
      "g",
      { class: "dot", role: "button", tabindex: 0, "aria-label": `Go to ${displayName(node.node)}`, "data-row": node.row },
      title,
      svg("circle", { class: "target", cx: cx.toFixed(1), cy: cy.toFixed(1), r: 11 }),
      circle,
    );
    group.addEventListener("click", () => go(node.row));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      go(node.row);
    });
    return group;
  });
  const drawn = ego.nodes.length - 1;
  const note = drawn < ego.of ? `${count(drawn)} of ${count(ego.of)} neighbors are drawn.` : `${count(drawn)} neighbors.`;
  return el(
    "div",
    { class: "ego" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "group", "aria-label": `Ego network of ${displayName(ego.nodes[0].node)}` },
      ...lines,
      ...dots.reverse(),
    ),
    el("p", { class: "muted small" }, note),
  );
}
