// The recipe of the embedding, and its quality.

import { count, el, number } from "./dom";
import type { Info, QualityScore } from "./api_types";

export function drawAbout(place: HTMLElement, info: Info): void {
  place.replaceChildren(
    el("h2", {}, "About this embedding"),
    el("dl", { class: "facts", id: "about-facts" }, ...pairs(facts(info))),
    el("h3", {}, "Scores"),
    scores(info.scores),
    el("h3", {}, "How it was made"),
    recipe(info.recipe),
    el("p", { class: "muted small" }, `graphrefine ${info.version}. The same answers for scripts: `, api()),
  );
}

const api = (): HTMLElement => el("a", { href: "api/openapi.json", target: "_blank", rel: "noreferrer" }, "API");

function facts(info: Info): [string, string][] {
  const rows: [string, string][] = [
    ["name", info.name],
    ["nodes", count(info.nodes)],
    ["dimensions", count(info.dim)],
    ["search", info.search],
  ];
  if (info.graph) {
    const kinds = [info.graph.directed ? "directed" : "undirected", info.graph.weighted ? "weighted" : "unweighted"];
    rows.push(["graph", `${count(info.graph.nodes)} nodes, ${count(info.graph.edges)} edges, ${kinds.join(", ")}`]);
    if (info.graph.matched < info.nodes) {
      rows.push(["found in the graph", `${count(info.graph.matched)} of ${count(info.nodes)} nodes`]);
    }
  } else {
    rows.push(["graph", "not given (--graph)"]);
  }
  const labels = info.labels;
  const labeled = labels && `${count(labels.classes)} on ${count(labels.labeled)} nodes`;
  rows.push(["labels", labeled ?? "not given (--labels)"]);
  return rows;
}

function scores(all: QualityScore[]): HTMLElement {
  if (all.length === 0) return el("p", { class: "muted" }, "None: start with --graph or --labels to have it judged.");
  const lines = all.map(({ name, value, note, state }) => {
    const text = state === "working" ? "working…" : state === "failed" || value === null ? "–" : number(value);
    const more = note ? [el("span", { class: "muted small" }, note)] : [];
    return el("li", {}, el("span", { class: "name" }, name, ...more), el("span", { class: "number" }, text));
  });
  return el("ul", { class: "scores", id: "scores" }, ...lines);
}

function recipe(settings: Record<string, unknown>): HTMLElement {
  const rows = Object.entries(settings).filter(([, value]) => value !== null);
  if (rows.length === 0) return el("p", { class: "muted" }, "Its file does not say.");
  return el("dl", { class: "facts", id: "recipe" }, ...pairs(rows.map(([name, value]) => [name, valueText(value)])));
}

function valueText(value: unknown): string {
  if (typeof value === "number") return number(value);
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

const pairs = (rows: [string, string][]): HTMLElement[] =>
  rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
