// A node's card: who it is, its values, its nearest neighbors and its ego network.

import { getEgo, getNeighbors, getNode } from "./api";
import { button, count, el, number, displayName } from "./dom";
import { drawEgo } from "./ego";
import { isAbort, problemText } from "./notices";
import { set, view } from "./state";
import type { Info, Neighbor, Node } from "./api_types";

const K = 10; // neighbors in the list
const EGO_LIMIT = 40;
const SCORE_WORDS: Record<string, string> = {
  cosine: "cosine (alike)",
  dot: "dot product",
  link: "link score (likely edge)",
};

export interface Around {
  info: () => Info;
  go: (row: number) => void;
  colorOf: (row: number) => string;
  showNode: (node: Node) => void;
  showNeighbors: (neighbors: Neighbor[]) => void;
}

export class Card {
  private request = new AbortController();
  private neighborRequest = new AbortController();
  private neighbors: Neighbor[] = [];
  private readonly list = el("ol", { class: "neighbors", "aria-label": "Nearest neighbors" });

  constructor(private readonly around: Around) {}

  /** Draws the card of `view.row` into `place`. */
  async show(place: HTMLElement): Promise<void> {
    this.request.abort();
    const request = (this.request = new AbortController());
    const row = view.row;
    if (row === null) return void place.replaceChildren(el("p", { class: "muted" }, "Click a node, or find one by name."));
    place.replaceChildren(el("p", { class: "muted" }, "Loading…"));
    try {
      const node = await getNode(row, request.signal);
      place.replaceChildren(...this.head(node), ...this.nearest(), ...this.network(row, request.signal));
      this.around.showNode(node);
      void this.fetchNeighbors();
    } catch (error) {
      if (!isAbort(error)) place.replaceChildren(el("p", { class: "problem" }, problemText(error)));
    }
  }

  private head(node: Node): HTMLElement[] {
    const tags = [node.side ? `as ${node.side}` : null, ...node.labels.map(String)].filter((tag) => tag !== null);
    const facts = new Map<string, string>();
    if (node.degree !== null) facts.set("degree", count(node.degree));
    for (const [name, value] of Object.entries(node.values ?? {})) {
      if (name === "degree" || name === "label") continue;
      facts.set(name, value === null ? "–" : typeof value === "number" ? number(value) : value);
    }
    const pairs = [...facts].flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
    return [
      el("h2", { class: "name", id: "node-name" }, displayName(node.node)),
      el("p", { class: "tags", id: "node-labels" }, ...tags.map((tag) => el("span", { class: "tag" }, displayName(tag)))),
      el("dl", { class: "facts", id: "node-facts" }, ...pairs),
    ];
  }

  private nearest(): HTMLElement[] {
    const { score_names: names, labels, columns, graph } = this.around.info();
    const scores = names.map((name) => option(name, SCORE_WORDS[name] ?? name, name === view.score));
    const score = el("select", { id: "score" }, ...scores);
    score.addEventListener("change", () => this.change({ score: score.value }));
    const controls = [el("label", { class: "choice" }, el("span", {}, "By"), score)];
    const classes = columns.find((column) => column.name === "label")?.categories;
    if (labels && classes) {
      const all = classes.map((entry) => option(String(entry.name), displayName(entry.name), entry.name === view.label));
      const label = el("select", { id: "only-label" }, option("", "any label", view.label === null), ...all);
      label.addEventListener("change", () => this.change({ label: label.value === "" ? null : label.value }));
      controls.push(el("label", { class: "choice" }, el("span", {}, "Only"), label));
    }
    const box = el("input", { type: "checkbox", id: "exclude_linked", checked: view.exclude_linked, disabled: graph === null });
    box.addEventListener("change", () => this.change({ exclude_linked: box.checked }));
    const why = graph ? "Not yet linked" : "Not yet linked (needs --graph)";
    const take = button("Select these", () => this.select(), { class: "plain", id: "select-neighbors" });
    return [
      el("h3", {}, "Nearest neighbors"),
      el("div", { class: "controls" }, ...controls, el("label", { class: "check" }, box, why)),
      this.list,
      el("p", { class: "actions" }, take),
    ];
  }

  private change(patch: Partial<typeof view>): void {
    set(patch);
    void this.fetchNeighbors();
  }

  private async fetchNeighbors(): Promise<void> {
    this.neighborRequest.abort();
    const request = (this.neighborRequest = new AbortController());
    const row = view.row;
    if (row === null) return;
    this.list.setAttribute("aria-busy", "true");
    try {
      const { score, label, exclude_linked } = view;
      const { results } = await getNeighbors({ row, k: K, score, label, exclude_linked }, request.signal);
      this.neighbors = results[0]?.neighbors ?? [];
      const lines = this.neighbors.map((neighbor) => this.line(neighbor));
      this.list.replaceChildren(...(lines.length ? lines : [el("li", { class: "muted" }, "None with these choices.")]));
      this.around.showNeighbors(this.neighbors);
    } catch (error) {
      if (isAbort(error)) return;
      this.list.replaceChildren(el("li", { class: "problem" }, problemText(error)));
    }
    this.list.removeAttribute("aria-busy");
  }

  private line(neighbor: Neighbor): HTMLElement {
    const go = button("", () => this.around.go(neighbor.row), { class: "line", "data-row": neighbor.row });
    const label = neighbor.labels.slice(0, 1).map((name) => el("span", { class: "muted" }, displayName(name)));
    const dot = el("span", { class: "dot", "aria-hidden": "true" });
    dot.style.setProperty("background", this.around.colorOf(neighbor.row));
    go.append(dot, el("span", { class: "name" }, displayName(neighbor.node)), ...label);
    go.append(el("span", { class: "number" }, neighbor.score?.toFixed(3) ?? "–"));
    return el("li", {}, go);
  }

  private select(): void {
    if (view.row === null) return;
    const rows = new Set([view.row, ...this.neighbors.map((neighbor) => neighbor.row)]);
    set({ selection: [...rows].sort((a, b) => a - b), panel: "selection" });
  }

  private network(row: number, signal: AbortSignal): HTMLElement[] {
    const place = el("div", { id: "ego" }, el("p", { class: "muted" }, "Loading…"));
    if (this.around.info().graph === null) {
      const hint = "Start with --graph to see the edges around a node:";
      place.replaceChildren(
        el("p", { class: "muted" }, hint),
        el("code", {}, "graphrefine explore EMBEDDING --graph GRAPH"),
      );
    } else {
      void this.drawNetwork(place, row, signal);
    }
    return [el("h3", {}, "In the graph"), place];
  }

  private async drawNetwork(place: HTMLElement, row: number, signal: AbortSignal): Promise<void> {
    try {
      const ego = await getEgo(row, EGO_LIMIT, signal);
      if (ego.nodes.length < 2) place.replaceChildren(el("p", { class: "muted" }, "This node has no edges."));
      else place.replaceChildren(drawEgo(ego, this.around.colorOf, this.around.go));
    } catch (error) {
      if (!isAbort(error)) place.replaceChildren(el("p", { class: "problem" }, problemText(error)));
    }
  }
}

function option(value: string, text: string, selected: boolean): HTMLOptionElement {
  const choice = el("option", { value }, text);
  choice.selected = selected;
  return choice;
}
