// Rings and names over the map: the node of the card, its neighbors, the one under the pointer. They lie in an SVG
// above the canvas, so that moving the pointer never draws a million points again.

import { byId, svg } from "./dom";
import type { Scatter } from "./scatter";

export interface Mark {
  row: number;
  name: string | null;
  kind: "node" | "neighbor" | "hover";
}

const RADIUS = { node: 9, neighbor: 4.5, hover: 8 };
const NAME_LENGTH = 36;

export class Marks {
  private readonly place = byId<SVGSVGElement>("marks");
  private node: Mark | null = null;
  private neighbors: Mark[] = [];
  private hover: Mark | null = null;

  constructor(private readonly scatter: Scatter) {}

  showNode(node: Mark | null): void {
    this.node = node;
    this.neighbors = [];
    this.draw();
  }

  showNeighbors(neighbors: Mark[]): void {
    this.neighbors = neighbors;
    this.draw();
  }

  showHover(hover: Mark | null): void {
    this.hover = hover;
    this.draw();
  }

  draw(): void {
    const hover = this.hover?.row === this.node?.row ? null : this.hover; // its name is there already
    const all = [...this.neighbors, this.node, hover].filter((mark): mark is Mark => mark !== null);
    this.place.replaceChildren(...all.flatMap((mark) => this.mark(mark)));
  }

  private mark(mark: Mark): SVGElement[] {
    const [x, y] = this.scatter.place(mark.row);
    if (x < -20 || y < -20 || x > this.place.clientWidth + 20 || y > this.place.clientHeight + 20) return [];
    const at = { cx: x.toFixed(1), cy: y.toFixed(1) };
    const ring = svg("circle", { class: mark.kind, "data-row": mark.row, ...at, r: RADIUS[mark.kind] });
    if (mark.name === null) return [ring];
    const short = mark.name.length > NAME_LENGTH ? `${mark.name.slice(0, NAME_LENGTH)}…` : mark.name;
    const left = x > this.place.clientWidth - 180;
    const away = RADIUS[mark.kind] + 5;
    const text = { class: mark.kind, x: (left ? x - away : x + away).toFixed(1), y: (y + 4).toFixed(1) };
    return [ring, svg("text", { ...text, "text-anchor": left ? "end" : "start" }, short)];
  }
}
