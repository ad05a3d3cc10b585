// The legend: what colors mean and how many nodes have each; a press on an entry shows it alone.

import type { Coloring } from "./colors";
import { button, byId, count, el, number, svg } from "./dom";

interface Legend {
  title: string;
  coloring: Coloring;
  highlight: number | null;
  pick: (slot: number | null) => void;
  select: (slot: number) => void;
}

export function drawLegend(legend: Legend | null): void {
  const place = byId("legend");
  place.hidden = legend === null;
  if (legend === null) return;
  const body = legend.coloring.ramp ? scale(legend.coloring.ramp) : entries(legend);
  const fold = el("details", { open: isOpen(place) }, el("summary", {}, legend.title), ...body);
  place.replaceChildren(fold);
}

function isOpen(place: HTMLElement): boolean {
  const before = place.querySelector("details");
  return before ? before.open : !matchMedia("(max-width: 640px)").matches;
}

function entries({ coloring, highlight, pick, select }: Legend): HTMLElement[] {
  const items = coloring.entries.map((entry) => {
    const swatch = svg("svg", { class: "swatch", viewBox: "0 0 12 12", "aria-hidden": "true" });
    swatch.append(svg("circle", { cx: 6, cy: 6, r: 5, fill: entry.color }));
    const pressed = entry.slot === highlight;
    const line = button("", () => pick(pressed ? null : entry.slot), {
      class: "entry",
      "aria-pressed": String(pressed),
      title: entry.name,
    });
    line.append(swatch, el("span", { class: "name" }, entry.name), el("span", { class: "count" }, count(entry.count)));
    return el("li", {}, line);
  });
  const list = el("ul", {}, ...items);
  // The buttons are there from the start: entries must not move under the pointer.
  const off = highlight === null;
  const take = button("Select", () => highlight !== null && select(highlight), { class: "plain", disabled: off });
  const all = button("Show all", () => pick(null), { class: "plain", disabled: off });
  return [list, el("p", { class: "actions" }, take, all)];
}

function scale(ramp: NonNullable<Coloring["ramp"]>): HTMLElement[] {
  const steps = ramp.colors.map((color, i) => svg("rect", { x: i, y: 0, width: 1.1, height: 1, fill: color }));
  const label = `From ${number(ramp.low)} to ${number(ramp.high)}`;
  const attributes = { class: "ramp", viewBox: `0 0 ${ramp.colors.length} 1`, preserveAspectRatio: "none" };
  const ticks = [ramp.low, ramp.middle, ramp.high].map((value) => el("span", {}, number(value)));
  const none = ramp.none ? [el("p", { class: "muted small" }, `${count(ramp.none)} without a value`)] : [];
  return [
    el("div", { class: "scale" }, svg("svg", { ...attributes, role: "img", "aria-label": label }, ...steps), el("p", {}, ...ticks)),
    ...none,
  ];
}
