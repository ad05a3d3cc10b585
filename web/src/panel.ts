// The panel at the side (at the bottom of a narrow window): a node, the selection, or how the embedding was made.

import { drawAbout } from "./about";
import { Card } from "./card";
import { button, byId, count, el, displayName } from "./dom";
import { go } from "./moving";
import { Selection } from "./selection";
import { type Panel, set, view } from "./state";
import { colorOf, panel, world } from "./world";

const card = new Card({
  info: () => world.info,
  go,
  colorOf,
  showNode: (node) => world.marks?.showNode({ row: node.row, name: displayName(node.node), kind: "node" }),
  showNeighbors: (neighbors) => world.marks?.showNeighbors(neighbors.map(({ row }) => ({ row, name: null, kind: "neighbor" }))),
});

export const selection = new Selection({
  go,
  frame: () => world.scatter && void world.scatter.look(world.scatter.frame(view.selection)),
  colorOf,
  place: (row) => [world.coordinates[2 * row], world.coordinates[2 * row + 1]],
  batch: () => world.info.limits.rows,
  file: () => world.info.name.replace(/[^\w.-]+/g, "_") || "embedding",
});

const TABS: [Exclude<Panel, null>, string][] = [
  ["node", "Node"],
  ["selection", "Selection"],
  ["about", "About"],
];

export function drawPanel(): void {
  panel.hidden = view.panel === null;
  byId("about").setAttribute("aria-pressed", String(view.panel === "about"));
  if (view.panel === null) return;
  const body = el("div", { class: "body" });
  panel.replaceChildren(el("div", { class: "tabs" }, ...TABS.map(([name, title]) => tab(name, title)), close()), body);
  if (view.panel === "node") void card.show(body);
  if (view.panel === "selection") selection.show(body);
  if (view.panel === "about") drawAbout(body, world.info);
}

function tab(name: Panel, title: string): HTMLElement {
  const size = view.selection.length;
  const label = name === "selection" && size ? `${title} (${count(size)})` : title;
  return button(label, () => set({ panel: name }), { class: "tab", "aria-pressed": String(name === view.panel) });
}

const close = (): HTMLElement =>
  button("×", () => set({ panel: null }), { class: "close", "aria-label": "Close the panel" });
